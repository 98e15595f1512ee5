package gitint

import (
	"bytes"
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
// skip-worktree and missing, and those of the directories of a sparse index.
//
// It skips files below except: in a lazy clone nearly all blobs are left out. If the working tree
// is not sparse it does not read the index.
func (r *Repo) LeftOut(ctx context.Context, dir, except string) (left []string, err error) {
	if !exists(filepath.Join(r.gitDir, filepath.FromSlash(sparseFile))) {
		return nil, nil
	}
	x, err := r.IndexWhere(ctx, func(path []byte, _ Mark) bool {
		return !bytes.HasPrefix(path, []byte(except+"/"))
	})
	if err != nil {
		return nil, err
	}
	for _, e := range x.below(dir) {
		if !x.IsLeftOut(e.Path) {
			continue
		}
		name := filepath.Join(r.root, filepath.FromSlash(e.Path))
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			left = append(left, strings.TrimPrefix(e.Path, dir+"/"))
		}
	}
	return left, nil
}

// IsLeftOut reports whether a sparse checkout leaves a file of the index out of the working tree.
func (x *Index) IsLeftOut(name string) bool {
	isIn := func(dir string) bool { return strings.HasPrefix(name, dir) }
	return x.markOf(name) == MarkSkipped || slices.ContainsFunc(x.sparse, isIn)
}
