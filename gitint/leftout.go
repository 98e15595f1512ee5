package gitint

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// LeftOut returns the files below a directory that the index has and a sparse checkout leaves out
// of the working tree, sorted, by their paths below that directory: those that are marked
// skip-worktree and are not there, and those of the directories of a sparse index.
func (r *Repo) LeftOut(ctx context.Context, dir string) (left []string, err error) {
	x, err := r.Index(ctx)
	if err != nil {
		return nil, err
	}
	for _, e := range x.below(dir) {
		_, pinned := slices.BinarySearch(x.pinned, e.Path)
		isSparse := func(dir string) bool { return strings.HasPrefix(e.Path, dir) }
		if (!pinned || slices.Contains(x.assumed, e.Path)) &&
			!slices.ContainsFunc(x.sparse, isSparse) {
			continue
		}
		name := filepath.Join(r.root, filepath.FromSlash(e.Path))
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			left = append(left, strings.TrimPrefix(e.Path, dir+"/"))
		}
	}
	return left, nil
}
