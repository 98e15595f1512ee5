package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/regular"
)

// A Source is a tree that can be checked. Its methods are called from several goroutines when
// content is verified.
type Source interface {
	// ReadFile reads the file at a slash path from the root.
	ReadFile(name string) ([]byte, error)
	// List returns the entries of a directory. The error is an fs.ErrNotExist if there is no such
	// directory.
	List(dir string) ([]Entry, error)
	// Sizes returns the sizes of files in order, or -1 for a file whose object is missing. It must
	// not fetch any.
	Sizes(ctx context.Context, files []File) ([]int64, error)
	// Name is the commit, "index" or "working tree".
	Name() string
}

// A File is a file of a source.
type File struct {
	Path string // from the root of the source
	ID   gitint.OID
}

// An Entry is an entry of a directory of a source.
type Entry struct {
	Name string
	// Mode has the bits of fs.ModeType. A submodule is an fs.ModeIrregular.
	Mode fs.FileMode
	// ID is the git object of a file or directory. It is zero if there is none, as in a working
	// tree; then a directory is never known to be the same in another source.
	ID gitint.OID
}

// A Walker is a Source that can list everything below a directory faster than with one call of List
// for each.
type Walker interface {
	// Walk calls f for every file, with its slash path below dir as Name. An absent directory has
	// no files.
	Walk(ctx context.Context, dir string, f func(Entry)) error
}

// An objectSource is a Source whose entries have ids, and which handles many of them at once
// faster.
type objectSource interface {
	Walker
	// WalkAll is Walk for several directories; i is the index of the directory.
	WalkAll(ctx context.Context, dirs []string, f func(i int, e Entry)) error
	// Differ compares the entries of two directories, where the zero id is an empty one. The two
	// entries have the same name; a missing one has mode absent.
	Differ(ctx context.Context, was, is gitint.OID, f func(was, is Entry)) error
	// Limits bounds the size of files that ReadFile reads.
	Limits() regular.Limits
	// ObjectSizes is Sizes for objects that are known only by id.
	ObjectSizes(ctx context.Context, ids []gitint.OID) ([]int64, error)
	// Gone returns the objects that are missing. It costs less than their sizes.
	Gone(ctx context.Context, ids []gitint.OID) (map[gitint.OID]bool, error)
	// ReadObjects calls f with the content of each object, in any order and from several goroutines
	// at once. An error of f stops the reading and is returned.
	ReadObjects(
		ctx context.Context, ids []gitint.OID, f func(i int, data []byte, err error) error,
	) error
	// ReadObjectsOf calls f in the same way with the size of each object, -1 if it is missing
	// locally, and with the content where wanted accepts the size.
	ReadObjectsOf(
		ctx context.Context, ids []gitint.OID, wanted func(size int64) bool,
		f func(i int, size int64, data []byte, err error) error,
	) error
}

// A Conflicter is a Source that may have unmerged paths.
type Conflicter interface {
	// Conflicts returns the unmerged paths.
	Conflicts() []string
}

// list is [Source.List], except that an absent directory is empty.
func list(src Source, dir string) ([]Entry, error) {
	entries, err := src.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, ListError(src, dir, err)
	}
	return entries, nil
}

// A listError is the error of listing a directory of a source, or of reading a file.
type listError struct {
	doing, source, dir string
	err                error
}

// ListError returns an error that names the source and the directory in which listing it failed. It
// returns err if that names a directory already, such as one below.
func ListError(src Source, dir string, err error) error {
	if _, ok := errors.AsType[*listError](err); ok {
		return err
	}
	return &listError{"list", src.Name(), dir, err}
}

// ReadError is [ListError] for reading a file.
func ReadError(src Source, name string, err error) error {
	return &listError{"read", src.Name(), name, err}
}

// Error has no path of the operating system beside that of the source.
func (e *listError) Error() string {
	return fmt.Sprintf("%s %s:%s: %v", e.doing, e.source, e.dir, regular.Cause(e.err))
}

func (e *listError) Unwrap() error { return e.err }

// A change is a file that differs between two sources. If a source does not have it, its mode is
// absent.
type change struct {
	path     string // below the compared directory
	old, new Entry
}

// absent is the mode of a missing file.
const absent = fs.ModeIrregular | fs.ModeSymlink

// sortEntries sorts by name, as [entriesDiffer] requires.
func sortEntries(all []Entry) {
	slices.SortFunc(all, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
}

// entriesDiffer calls f for every entry that differs between two sorted listings of a directory. A
// missing one has mode absent.
func entriesDiffer(before, now []Entry, f func(was, is Entry)) {
	none := Entry{Mode: absent}
	for len(before) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(before) > 0 && before[0].Name < now[0].Name:
			f(before[0], none)
			before = before[1:]
		case len(before) == 0 || now[0].Name < before[0].Name:
			f(none, now[0])
			now = now[1:]
		default:
			if before[0] != now[0] || now[0].ID.IsZero() {
				f(before[0], now[0])
			}
			before, now = before[1:], now[1:]
		}
	}
}

// A differ compares a directory of two sources.
type differ struct {
	old, new Source // old is nil for an empty source
	dir      string
	emit     func(change)
}

// walk compares the directory sub of dir, whose entries in the two sources are was and is.
// Directories with the same object are not entered.
func (d differ) walk(ctx context.Context, sub string, was, is Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if w, ok := d.new.(Walker); ok && is.Mode.IsDir() && was.Mode == absent {
		return d.all(ctx, w, sub)
	}
	var err error
	differ := d.differences(ctx, path.Join(d.dir, sub), was, is, func(was, is Entry) {
		if err == nil {
			err = d.entry(ctx, path.Join(sub, max(was.Name, is.Name)), was, is)
		}
	})
	return errors.Join(differ, err)
}

// differences calls f for every entry of a directory that differs between the sources. It compares
// the tree objects of the directory if it has some, which costs least.
func (d differ) differences(
	ctx context.Context, dir string, was, is Entry, f func(was, is Entry),
) error {
	o, ok := d.new.(objectSource)
	if ok && byObject(was) && byObject(is) {
		if err := o.Differ(ctx, was.ID, is.ID, f); err != nil {
			return ListError(d.new, dir, err)
		}
		return nil
	}
	before, err := listed(d.old, dir, was)
	if err != nil {
		return err
	}
	now, err := listed(d.new, dir, is)
	if err != nil {
		return err
	}
	entriesDiffer(before, now, f)
	return nil
}

// byObject reports whether a directory has an object, or does not exist.
func byObject(e Entry) bool { return e.Mode == absent || e.Mode.IsDir() && !e.ID.IsZero() }

// listed lists a directory, sorted.
func listed(src Source, dir string, e Entry) ([]Entry, error) {
	if src == nil || e.Mode == absent {
		return nil, nil
	}
	entries, err := list(src, dir)
	sortEntries(entries)
	return entries, err
}

// all emits every file below sub as new.
func (d differ) all(ctx context.Context, w Walker, sub string) error {
	err := w.Walk(ctx, path.Join(d.dir, sub), func(e Entry) {
		d.emit(change{path.Join(sub, e.Name), Entry{Mode: absent}, e})
	})
	if err != nil {
		return ListError(d.new, path.Join(d.dir, sub), err)
	}
	return nil
}

func (d differ) entry(ctx context.Context, name string, was, is Entry) error {
	if !was.Mode.IsDir() && !is.Mode.IsDir() {
		d.emit(change{name, was, is})
		return nil
	}
	// If a side has no directory here, walk it as if it were empty.
	none := Entry{Mode: absent}
	if !was.Mode.IsDir() && was.Mode != absent {
		d.emit(change{name, was, none})
	}
	if !is.Mode.IsDir() && is.Mode != absent {
		d.emit(change{name, none, is})
	}
	return d.walk(ctx, name, orNone(was), orNone(is))
}

// orNone returns the entry if it is a directory, and otherwise an absent one.
func orNone(e Entry) Entry {
	if e.Mode.IsDir() {
		return e
	}
	return Entry{Mode: absent}
}
