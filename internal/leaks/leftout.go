package leaks

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A LeftOut reads the files about secrets that a sparse checkout leaves out of a working tree, from
// the index. They are in force there too: otherwise a setting of the clone would make allowed
// findings stop a commit, and imports restore redacted text. A [workspace.Workspace] implements it.
type LeftOut interface {
	// LeftOutBelow returns the sorted paths of the files below a directory.
	LeftOutBelow(dir string) ([]string, error)
	// ReadLeftOut reads one of them.
	ReadLeftOut(name string) ([]byte, error)
}

// LeftOutOf returns a LeftOut for the working tree of a repository, with paths from its root. It
// reads the index when it is first used.
func LeftOutOf(ctx context.Context, repo *gitint.Repo) LeftOut {
	return leftOut{sync.OnceValues(func() (*gitint.LeftOut, error) {
		const at = "/" + workspace.DirName + "/" + secrets.Dir + "/"
		return repo.LeftOut(ctx, ".", func(path []byte) bool {
			return bytes.HasPrefix(path, []byte(at[1:])) || bytes.Contains(path, []byte(at))
		})
	})}
}

type leftOut struct {
	open func() (*gitint.LeftOut, error)
}

// LeftOutBelow implements [LeftOut].
func (l leftOut) LeftOutBelow(dir string) ([]string, error) {
	left, err := l.open()
	if err != nil {
		return nil, err
	}
	return workspace.Below(left.Names(), dir), nil
}

// ReadLeftOut implements [LeftOut].
func (l leftOut) ReadLeftOut(name string) ([]byte, error) {
	left, err := l.open()
	if err != nil {
		return nil, err
	}
	return left.ReadFile(name)
}

// ReadFile reads a file of a working tree below .jp/secrets, such as the rules, also if a sparse
// checkout leaves it out.
func ReadFile(w *workspace.Workspace, name string) ([]byte, error) {
	file := filepath.Join(w.Dir(), filepath.FromSlash(name))
	data, err := regular.ReadFile(file, secrets.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return w.ReadLeftOut(path.Join(workspace.DirName, name))
	}
	return data, err
}

// withLeft adds the entries that a sparse checkout leaves out to those of a directory below .jp.
func (r *entryReader) withLeft(name string, all []check.Entry) ([]check.Entry, error) {
	if r.left == nil {
		return all, nil
	}
	dir := path.Join(r.dir, name)
	left, err := r.left.LeftOutBelow(dir)
	if err != nil || len(left) == 0 {
		return all, err
	}
	names := lists.Set(lists.Map(all, func(e check.Entry) string { return e.Name }))
	all = slices.Clone(all)
	for _, file := range left {
		base, _, deeper := strings.Cut(file[len(dir)+1:], "/")
		e := check.Entry{Name: base}
		if deeper {
			e.Mode = fs.ModeDir
		}
		if !names[base] {
			names[base] = true
			all = append(all, e)
		}
	}
	return all, nil
}
