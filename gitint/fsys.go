package gitint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/internal/lists"
)

// files has the common methods of a Tree and an Index for fs.FS.
type files interface {
	// find returns the entry of a path, or fs.ErrNotExist.
	find(name string) (Entry, error)
	// children returns the entries of a directory.
	children(dir Entry) ([]Entry, error)
	repository() *Repo
}

var (
	errNotRegular = errors.New("not a regular file")
	errIsDir      = errors.New("is a directory")
)

// ErrNotDir reports that a commit or an index has something else in the place of a directory.
var ErrNotDir = errors.New("not a directory")

// IsNoDir reports whether an error of listing a directory of a commit or an index says that it has
// none there, so that nothing is in it.
func IsNoDir(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNotDir)
}

// validPath is fs.ValidPath for names that need not be UTF-8.
func validPath(name string) bool {
	if name == "." {
		return true
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}

func lookup(f files, op, name string) (Entry, error) {
	if !validPath(name) {
		return Entry{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	e, err := f.find(name)
	if err != nil {
		return Entry{}, &fs.PathError{Op: op, Path: name, Err: err}
	}
	return e, nil
}

func readFile(f files, name string) ([]byte, error) {
	e, err := lookup(f, "read", name)
	if err != nil {
		return nil, err
	}
	data, err := contentOf(f, e)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return data, nil
}

func contentOf(f files, e Entry) ([]byte, error) {
	switch {
	case e.Mode == ModeDir:
		return nil, errIsDir
	case !e.Mode.IsRegular():
		return nil, errNotRegular
	}
	r := f.repository()
	return r.ReadObject(context.Background(), e.OID, r.limits.Of(e.Path))
}

func readDir(f files, name string) ([]fs.DirEntry, error) {
	e, err := lookup(f, "readdir", name)
	if err != nil {
		return nil, err
	}
	list, err := dirEntries(f, e)
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	return list, nil
}

func childrenOf(f files, name string) ([]Entry, error) {
	e, err := lookup(f, "list", name)
	if err == nil && e.Mode != ModeDir {
		err = &fs.PathError{Op: "list", Path: name, Err: ErrNotDir}
	}
	if err != nil {
		return nil, err
	}
	children, err := f.children(e)
	if err != nil {
		return nil, &fs.PathError{Op: "list", Path: name, Err: err}
	}
	return children, nil
}

// dirEntries sorts by name alone, where git sorts a directory after files whose names continue with
// a character before the slash.
func dirEntries(f files, dir Entry) ([]fs.DirEntry, error) {
	if dir.Mode != ModeDir {
		return nil, ErrNotDir
	}
	children, err := f.children(dir)
	if err != nil {
		return nil, err
	}
	list := lists.Map(children, func(c Entry) fs.DirEntry { return dirEntry{f, c} })
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

func open(f files, name string) (fs.File, error) {
	e, err := lookup(f, "open", name)
	if err != nil {
		return nil, err
	}
	if e.Mode == ModeDir {
		return &openDir{f: f, entry: e}, nil
	}
	info, err := dirEntry{f, e}.Info()
	if err == nil && !e.Mode.IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &openFile{f: f, entry: e, info: info}, nil
}

// fileInfo describes an entry. Git stores no times.
type fileInfo struct {
	entry Entry
	size  int64
}

func (i fileInfo) Name() string       { return path.Base(i.entry.Path) }
func (i fileInfo) Size() int64        { return i.size }
func (i fileInfo) Mode() fs.FileMode  { return i.entry.Mode.FileMode() }
func (i fileInfo) ModTime() time.Time { return time.Time{} }
func (i fileInfo) IsDir() bool        { return i.entry.Mode == ModeDir }
func (i fileInfo) Sys() any           { return i.entry }

// dirEntry reads the size only when needed.
type dirEntry struct {
	f     files
	entry Entry
}

func (d dirEntry) Name() string      { return path.Base(d.entry.Path) }
func (d dirEntry) IsDir() bool       { return d.entry.Mode == ModeDir }
func (d dirEntry) Type() fs.FileMode { return d.entry.Mode.FileMode().Type() }

func (d dirEntry) Info() (fs.FileInfo, error) {
	if !d.entry.Mode.IsRegular() {
		return fileInfo{entry: d.entry}, nil
	}
	size, err := d.f.repository().ObjectSize(context.Background(), d.entry.OID)
	if err != nil {
		return nil, fmt.Errorf("size of %q: %w", d.entry.Path, err)
	}
	return fileInfo{d.entry, size}, nil
}

// openFile has the content of a file once it is read: many are opened for their size and mode.
type openFile struct {
	f     files
	entry Entry
	info  fs.FileInfo
	read  *bytes.Reader
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *openFile) Close() error               { return nil }

func (f *openFile) Read(p []byte) (int, error) {
	if f.read == nil {
		data, err := contentOf(f.f, f.entry)
		if err != nil {
			return 0, &fs.PathError{Op: "read", Path: f.entry.Path, Err: err}
		}
		f.read = bytes.NewReader(data)
	}
	return f.read.Read(p)
}

type openDir struct {
	f     files
	entry Entry
	rest  []fs.DirEntry
	begun bool
}

func (d *openDir) Stat() (fs.FileInfo, error) { return fileInfo{entry: d.entry}, nil }
func (d *openDir) Close() error               { return nil }

func (d *openDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.entry.Path, Err: errIsDir}
}

func (d *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if !d.begun {
		list, err := dirEntries(d.f, d.entry)
		if err != nil {
			return nil, err
		}
		d.rest, d.begun = list, true
	}
	if n <= 0 || n > len(d.rest) {
		if n > 0 && len(d.rest) == 0 {
			return nil, io.EOF
		}
		n = len(d.rest)
	}
	list := d.rest[:n]
	d.rest = d.rest[n:]
	return list, nil
}
