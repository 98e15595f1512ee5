package gitint

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-jp/git-jp/gitint/internal/git"
	"github.com/git-jp/git-jp/gitint/internal/index"
)

// A TrackedFile is a tracked file and its state in the working tree.
type TrackedFile struct {
	Entry
	// Pinned is set if git does not read the file: skip-worktree or assume-unchanged.
	Pinned bool
	// Changed is set if the file differs from the index.
	Changed bool
}

// Tracked returns the files of the index by path, with their state in the working tree, without
// unmerged ones.
func (r *Repo) Tracked(ctx context.Context) (map[string]TrackedFile, error) {
	args := append(slices.Clone(quiet[:]),
		"ls-files", "-z", "--cached", "--modified", "--stage", "-v")
	out, err := r.git.Run(ctx, git.Command{Args: args})
	if err != nil {
		return nil, fmt.Errorf("list tracked files: %w", err)
	}
	all := map[string]TrackedFile{}
	for _, line := range splitZ(out) {
		e, err := index.ParseLine(line)
		switch {
		case err != nil:
			return nil, fmt.Errorf("list tracked files: %w", err)
		case e.Stage != 0:
			continue
		}
		f, listed := all[e.Path]
		changed := line[0] == 'C' || line[0] == 'c'
		if !listed {
			f = TrackedFile{Entry: e.Entry, Pinned: e.Pinned && !changed}
		}
		f.Changed = f.Changed || changed
		all[e.Path] = f
	}
	return all, nil
}
