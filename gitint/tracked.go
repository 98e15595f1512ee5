package gitint

import (
	"bytes"
	"context"
	"fmt"
	"slices"
)

// A TrackedFile is what git knows of a file of the working tree.
type TrackedFile struct {
	Entry
	// Pinned is set when git does not look at the file: skip-worktree or assume-unchanged.
	Pinned bool
	// Changed is set when the file is not as it is in the index.
	Changed bool
}

// Tracked returns the files of the index by path, with what became of them in the working tree.
// Those of conflicts are not among them.
func (r *Repo) Tracked(ctx context.Context) (map[string]TrackedFile, error) {
	args := append(slices.Clone(quiet[:]),
		"ls-files", "-z", "--cached", "--modified", "--stage", "-v")
	out, err := r.run(ctx, command{args: args})
	if err != nil {
		return nil, fmt.Errorf("list tracked files: %w", err)
	}
	all := map[string]TrackedFile{}
	for len(out) > 0 {
		line, rest, _ := bytes.Cut(out, []byte{0})
		out = rest
		e, err := parseIndexEntry(string(line))
		switch {
		case err != nil:
			return nil, fmt.Errorf("list tracked files: %w", err)
		case e.stage != 0:
			continue
		}
		f, listed := all[e.Path]
		changed := line[0] == 'C' || line[0] == 'c'
		if !listed {
			f = TrackedFile{Entry: e.Entry, Pinned: e.pinned && !changed}
		}
		f.Changed = f.Changed || changed
		all[e.Path] = f
	}
	return all, nil
}
