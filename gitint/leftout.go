package gitint

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/regular"
)

// A LeftOut has files of the index that a sparse checkout leaves out of the working tree.
type LeftOut struct {
	index *Index
	dir   string
	names []string
}

// LeftOut returns the files below a directory that the index has and a sparse checkout leaves out
// of the working tree: those that are marked skip-worktree and missing, and those of the
// directories of a sparse index.
//
// It skips files for which wanted is false: in a lazy clone nearly all blobs are left out. If the
// working tree is not sparse it does not read the index.
func (r *Repo) LeftOut(
	ctx context.Context, dir string, wanted func(path []byte) bool,
) (*LeftOut, error) {
	left := &LeftOut{dir: dir}
	if !regular.Exists(filepath.Join(r.gitDir, filepath.FromSlash(sparseFile))) {
		return left, nil
	}
	var err error
	left.index, err = r.IndexWhere(ctx, func(path []byte, _ Mark) bool { return wanted(path) })
	if err != nil {
		return nil, err
	}
	for _, e := range left.index.below(dir) {
		if !left.index.IsLeftOut(e.Path) {
			continue
		}
		name := filepath.Join(r.root, filepath.FromSlash(e.Path))
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			if dir != "." {
				e.Path = strings.TrimPrefix(e.Path, dir+"/")
			}
			left.names = append(left.names, e.Path)
		}
	}
	return left, nil
}

// Names returns the paths of the files below the directory, sorted.
func (l *LeftOut) Names() []string { return slices.Clone(l.names) }

// ReadFile reads one of the files, as the index has it.
func (l *LeftOut) ReadFile(name string) ([]byte, error) {
	if _, ok := slices.BinarySearch(l.names, name); !ok {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	return l.index.ReadFile(path.Join(l.dir, name))
}

// IsLeftOut reports whether a sparse checkout leaves a file of the index out of the working tree.
func (x *Index) IsLeftOut(name string) bool {
	isIn := func(dir string) bool { return strings.HasPrefix(name, dir) }
	return x.markOf(name) == MarkSkipped || slices.ContainsFunc(x.sparse, isIn)
}
