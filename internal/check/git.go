package check

import (
	"context"
	"encoding"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/git-jp/git-jp/internal/refs"
)

// An Object is an object id as gitint has it.
type Object interface {
	fmt.Stringer
	IsZero() bool
}

// A Snapshot is what gitint gives of a revision or of the index, in the words that
// this package needs. Directories of its listings, unlike files, tell their
// object in [fs.FileInfo.Sys], which is an E.
type Snapshot[O Object, E any] interface {
	ReadFile(name string) ([]byte, error)
	ReadDir(name string) ([]fs.DirEntry, error)
	// OID returns the object of a file.
	OID(name string) (O, bool)
	// Entries returns every file below a directory.
	Entries(dir string) ([]E, error)
	Name() string
}

// A Repository tells the sizes of objects. Its error is an fs.ErrNotExist for an object
// that is not there.
type Repository[O any] interface {
	ObjectSize(ctx context.Context, id O) (int64, error)
}

// A bulkRepository is a Repository that is faster when asked for many objects at once.
// An object that is not there has the size -1.
type bulkRepository[O any] interface {
	ObjectSizes(ctx context.Context, ids []O) ([]int64, error)
}

// Git returns the source that reads a snapshot of a repository. The function takes the
// snapshot's entries apart: path from the root, git's mode, object.
func Git[O Object, E any](
	repo Repository[O], snap Snapshot[O, E], entry func(E) (name string, mode uint32, id O),
) Source {
	src := &gitSource[O, E]{snap, repo, entry}
	if c, ok := snap.(Conflicter); ok {
		return &unmergedSource[O, E]{src, c}
	}
	return src
}

type gitSource[O Object, E any] struct {
	Snapshot[O, E]
	repo  Repository[O]
	entry func(E) (string, uint32, O)
}

type unmergedSource[O Object, E any] struct {
	*gitSource[O, E]
	Conflicter
}

// idOf is "" for an object that is none, as that of a directory in the index.
func idOf[O Object](id O) refs.ObjectID {
	if id.IsZero() {
		return ""
	}
	return refs.ObjectID(id.String())
}

// List implements [Source].
func (s *gitSource[O, E]) List(dir string) ([]Entry, error) {
	listed, err := s.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, len(listed))
	for i, d := range listed {
		entries[i] = Entry{Name: d.Name(), Mode: d.Type(), ID: s.id(dir, d)}
	}
	return entries, nil
}

// id asks a directory for its object itself, and the snapshot for that of a file, whose
// Info would have to find its size.
func (s *gitSource[O, E]) id(dir string, d fs.DirEntry) refs.ObjectID {
	if !d.IsDir() {
		id, _ := s.OID(path.Join(dir, d.Name()))
		return idOf(id)
	}
	info, err := d.Info()
	if err != nil {
		return ""
	}
	raw, ok := info.Sys().(E)
	if !ok {
		return ""
	}
	_, _, id := s.entry(raw)
	return idOf(id)
}

// Walk implements [Walker].
func (s *gitSource[O, E]) Walk(ctx context.Context, dir string, f func(Entry)) error {
	entries, err := s.Entries(dir)
	if err != nil {
		return err
	}
	for _, raw := range entries {
		name, mode, id := s.entry(raw)
		f(Entry{strings.TrimPrefix(name, dir+"/"), GitMode(mode), idOf(id)})
	}
	return ctx.Err()
}

// Sizes implements [Source].
func (s *gitSource[O, E]) Sizes(ctx context.Context, files []File) ([]int64, error) {
	ids := make([]O, len(files)) // the zero value names nothing
	for i, f := range files {
		ids[i], _ = s.object(f)
	}
	if bulk, ok := s.repo.(bulkRepository[O]); ok {
		return bulk.ObjectSizes(ctx, ids)
	}
	sizes := make([]int64, len(files))
	for i, id := range ids {
		sizes[i] = -1
		if id.IsZero() {
			continue
		}
		n, err := s.repo.ObjectSize(ctx, id)
		switch {
		case err == nil:
			sizes[i] = n
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return sizes, nil
}

// object reads the id again, which is faster than to descend to the path.
func (s *gitSource[O, E]) object(f File) (id O, ok bool) {
	if u, ok := any(&id).(encoding.TextUnmarshaler); ok && u.UnmarshalText([]byte(f.ID)) == nil {
		return id, true
	}
	return s.OID(f.Path)
}

// GitMode returns the type of a file of git's mode, such as 0o100644.
func GitMode(mode uint32) fs.FileMode {
	switch mode & 0o170000 {
	case 0o100000:
		return 0
	case 0o040000:
		return fs.ModeDir
	case 0o120000:
		return fs.ModeSymlink
	default:
		return fs.ModeIrregular // a submodule
	}
}
