package check

import (
	"context"
	"encoding"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/regular"
)

// An Object is an object id as gitint has it.
type Object interface {
	fmt.Stringer
	IsZero() bool
}

// A Snapshot is what gitint gives of a revision or of the index, in the words that
// this package needs.
type Snapshot[O Object, E any] interface {
	ReadFile(name string) ([]byte, error)
	// Children returns what lies directly in a directory.
	Children(dir string) ([]E, error)
	// OID returns the object of a file.
	OID(name string) (O, bool)
	// Entries returns every file below a directory.
	Entries(dir string) ([]E, error)
	Name() string
}

// A deepSnapshot is a Snapshot that is faster when asked for many directories at once.
type deepSnapshot[E any] interface {
	EntriesOf(ctx context.Context, dirs ...string) ([][]E, error)
}

// A Repository has objects, and is asked for many at once.
type Repository[O, E any] interface {
	// DiffTrees calls f for every entry directly in two trees that is not the same in
	// both. The mode of the one that is not there is 0; the zero id is an empty tree.
	DiffTrees(ctx context.Context, was, is O, f func(was, is E)) error
	// Limits are how large the files may be that a Snapshot reads.
	Limits() regular.Limits
	// ObjectSizes returns the size of each object, -1 for one that is not there.
	ObjectSizes(ctx context.Context, ids []O) ([]int64, error)
	// HasObject returns which of the objects are not here, and must not fetch any.
	HasObject(ctx context.Context, ids []O) (missing []O, err error)
	// ReadObjects calls f with each object, one at a time. The error that f gets is an
	// fs.ErrNotExist for one that is not there; that of f ends the reading.
	ReadObjects(ctx context.Context, ids []O, f func(i int, data []byte, err error) error) error
}

// Git returns the source that reads a snapshot of a repository. The function takes the
// snapshot's entries apart: path from the root, git's mode, object.
func Git[O Object, E any](
	repo Repository[O, E], snap Snapshot[O, E], entry func(E) (name string, mode uint32, id O),
) Source {
	src := &gitSource[O, E]{snap, repo, entry}
	if c, ok := snap.(Conflicter); ok {
		return &unmergedSource[O, E]{src, c}
	}
	return src
}

type gitSource[O Object, E any] struct {
	Snapshot[O, E]
	repo  Repository[O, E]
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
	children, err := s.Children(dir)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, len(children))
	for i, c := range children {
		entries[i] = s.named(c)
	}
	return entries, nil
}

// Walk implements [Walker].
func (s *gitSource[O, E]) Walk(ctx context.Context, dir string, f func(Entry)) error {
	return s.WalkAll(ctx, []string{dir}, func(_ int, e Entry) { f(e) })
}

// WalkAll implements [objectSource].
func (s *gitSource[O, E]) WalkAll(
	ctx context.Context, dirs []string, f func(i int, e Entry),
) error {
	lists, err := s.entriesOf(ctx, dirs)
	if err != nil {
		return err
	}
	for i, entries := range lists {
		prefix := dirs[i] + "/"
		for _, raw := range entries {
			name, mode, id := s.entry(raw)
			f(i, Entry{strings.TrimPrefix(name, prefix), GitMode(mode), idOf(id)})
		}
	}
	return ctx.Err()
}

func (s *gitSource[O, E]) entriesOf(ctx context.Context, dirs []string) ([][]E, error) {
	if deep, ok := s.Snapshot.(deepSnapshot[E]); ok {
		return deep.EntriesOf(ctx, dirs...)
	}
	lists := make([][]E, len(dirs))
	for i, dir := range dirs {
		var err error
		if lists[i], err = s.Entries(dir); err != nil {
			return nil, err
		}
	}
	return lists, nil
}

// Differ implements [objectSource].
func (s *gitSource[O, E]) Differ(
	ctx context.Context, was, is refs.ObjectID, f func(was, is Entry),
) error {
	ids := parseIDs[O]([]refs.ObjectID{was, is})
	return s.repo.DiffTrees(ctx, ids[0], ids[1], func(was, is E) { f(s.named(was), s.named(is)) })
}

// named is the entry of a directory.
func (s *gitSource[O, E]) named(raw E) Entry {
	name, mode, id := s.entry(raw)
	if mode == 0 {
		return Entry{Mode: absent}
	}
	return Entry{path.Base(name), GitMode(mode), idOf(id)}
}

// Sizes implements [Source].
func (s *gitSource[O, E]) Sizes(ctx context.Context, files []File) ([]int64, error) {
	ids := make([]O, len(files)) // the zero value names nothing
	for i, f := range files {
		ids[i], _ = s.object(f)
	}
	return s.repo.ObjectSizes(ctx, ids)
}

// object reads the id again, which is faster than to descend to the path.
func (s *gitSource[O, E]) object(f File) (id O, ok bool) {
	if u, ok := any(&id).(encoding.TextUnmarshaler); ok && u.UnmarshalText([]byte(f.ID)) == nil {
		return id, true
	}
	return s.OID(f.Path)
}

// Limits implements [objectSource].
func (s *gitSource[O, E]) Limits() regular.Limits { return s.repo.Limits() }

// ObjectSizes implements [objectSource].
func (s *gitSource[O, E]) ObjectSizes(
	ctx context.Context, ids []refs.ObjectID,
) ([]int64, error) {
	return s.repo.ObjectSizes(ctx, parseIDs[O](ids))
}

// Gone implements [objectSource].
func (s *gitSource[O, E]) Gone(
	ctx context.Context, ids []refs.ObjectID,
) (map[refs.ObjectID]bool, error) {
	missing, err := s.repo.HasObject(ctx, parseIDs[O](ids))
	gone := make(map[refs.ObjectID]bool, len(missing))
	for _, id := range missing {
		gone[idOf(id)] = true
	}
	return gone, err
}

// ReadObjects implements [objectSource].
func (s *gitSource[O, E]) ReadObjects(
	ctx context.Context, ids []refs.ObjectID, f func(i int, data []byte, err error) error,
) error {
	return s.repo.ReadObjects(ctx, parseIDs[O](ids), f)
}

// parseIDs leaves the zero value, which names nothing, for what is no id.
func parseIDs[O any](ids []refs.ObjectID) []O {
	parsed := make([]O, len(ids))
	for i := range parsed {
		if u, ok := any(&parsed[i]).(encoding.TextUnmarshaler); ok {
			_ = u.UnmarshalText([]byte(ids[i]))
		}
	}
	return parsed
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
