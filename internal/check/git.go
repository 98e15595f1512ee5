package check

import (
	"context"
	"io/fs"
	"path"
	"strings"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/regular"
)

// A deepSnapshot is a [gitint.Snapshot] that can list many directories at once faster.
type deepSnapshot interface {
	EntriesOf(ctx context.Context, dirs ...string) ([][]gitint.Entry, error)
}

// Git returns the source that reads a snapshot of a repository.
func Git(repo *gitint.Repo, snap gitint.Snapshot) Source {
	src := &gitSource{Snapshot: snap, AtOnce: repo.AtOnce(), repo: repo}
	if c, ok := snap.(Conflicter); ok {
		return &unmergedSource{src, c}
	}
	return src
}

// A gitSource is a directory of a snapshot.
type gitSource struct {
	gitint.Snapshot
	gitint.AtOnce

	repo *gitint.Repo
	dir  string // "" for the root
	// mixed says that files are asked for by objects which another source of the repository lists.
	mixed bool
}

// at returns the path from the root of the snapshot.
func (s *gitSource) at(name string) string {
	if s.dir == "" {
		return name
	}
	return path.Join(s.dir, name)
}

// ReadFile implements [Source].
func (s *gitSource) ReadFile(name string) ([]byte, error) {
	return s.Snapshot.ReadFile(s.at(name))
}

type unmergedSource struct {
	*gitSource
	Conflicter
}

// List implements [Source].
func (s *gitSource) List(dir string) ([]Entry, error) {
	children, err := s.Children(s.at(dir))
	if err != nil {
		return nil, err
	}
	return lists.Map(children, named), nil
}

// Walk implements [Walker].
func (s *gitSource) Walk(ctx context.Context, dir string, f func(Entry)) error {
	return s.WalkAll(ctx, []string{dir}, func(_ int, e Entry) { f(e) })
}

// WalkAll implements [objectSource].
func (s *gitSource) WalkAll(
	ctx context.Context, dirs []string, f func(i int, e Entry),
) error {
	places := lists.Map(dirs, s.at)
	lists, err := s.entriesOf(ctx, places)
	if err != nil {
		return err
	}
	for i, entries := range lists {
		prefix := places[i] + "/"
		for _, raw := range entries {
			f(i, Entry{strings.TrimPrefix(raw.Path, prefix), fileType(raw.Mode), raw.OID})
		}
	}
	return ctx.Err()
}

func (s *gitSource) entriesOf(ctx context.Context, dirs []string) ([][]gitint.Entry, error) {
	if deep, ok := s.Snapshot.(deepSnapshot); ok {
		return deep.EntriesOf(ctx, dirs...)
	}
	lists := make([][]gitint.Entry, len(dirs))
	for i, dir := range dirs {
		var err error
		if lists[i], err = s.Entries(dir); err != nil {
			return nil, err
		}
	}
	return lists, nil
}

// Differ implements [objectSource].
func (s *gitSource) Differ(
	ctx context.Context, was, is gitint.OID, f func(was, is Entry),
) error {
	return s.repo.DiffTrees(ctx, was, is, func(was, is gitint.Entry) {
		f(named(was), named(is))
	})
}

// named returns the entry of a directory.
func named(raw gitint.Entry) Entry {
	if raw.Mode == 0 {
		return Entry{Mode: absent}
	}
	return Entry{path.Base(raw.Path), fileType(raw.Mode), raw.OID}
}

// Sizes implements [Source].
func (s *gitSource) Sizes(ctx context.Context, files []File) ([]int64, error) {
	ids := make([]gitint.OID, len(files)) // the zero id is no object
	for i, f := range files {
		ids[i], _ = s.object(f)
	}
	return s.repo.ObjectSizes(ctx, ids)
}

// object returns the file's id if it is known, which is faster than to descend to the path.
func (s *gitSource) object(f File) (id gitint.OID, ok bool) {
	if !f.ID.IsZero() {
		return f.ID, true
	}
	return s.OID(s.at(f.Path))
}

// Limits implements [objectSource].
func (s *gitSource) Limits() regular.Limits { return s.repo.Limits() }

// ObjectSizes implements [objectSource].
func (s *gitSource) ObjectSizes(
	ctx context.Context, ids []gitint.OID,
) ([]int64, error) {
	return s.repo.ObjectSizes(ctx, ids)
}

// Gone implements [objectSource].
func (s *gitSource) Gone(
	ctx context.Context, ids []gitint.OID,
) (map[gitint.OID]bool, error) {
	missing, err := s.repo.HasObject(ctx, ids)
	return lists.Set(missing), err
}

// fileType returns the type bits of a mode. Old trees have modes such as 0o100664.
func fileType(m gitint.Mode) fs.FileMode {
	switch m & 0o170000 {
	case 0o100000:
		return 0
	case gitint.ModeDir:
		return fs.ModeDir
	case gitint.ModeSymlink:
		return fs.ModeSymlink
	default:
		return fs.ModeIrregular // a submodule
	}
}
