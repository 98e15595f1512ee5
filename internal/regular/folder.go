package regular

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// A Folder is an open directory with the list of its entries: a caller that reads several of its
// files resolves the path once. Only listed entries can be opened, by their names alone, and links
// are not followed, so that no file outside is reached.
type Folder struct {
	dir     directory
	entries []fs.DirEntry
}

// OpenFolder opens and lists a directory. Close it after use.
func OpenFolder(root *os.Root, name string) (*Folder, error) {
	dir, err := openDirectory(root, name)
	if err != nil {
		return nil, err
	}
	return newFolder(dir, place{root, name})
}

func newFolder(dir directory, at place) (*Folder, error) {
	listed, err := dir.list()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("list %s: %w", at.dir, err), dir.close())
	}
	f := &Folder{dir: dir, entries: make([]fs.DirEntry, len(listed))}
	own := make([]entry, len(listed))
	for i, e := range listed {
		own[i] = entry{e.Name(), e.Type(), &at}
		f.entries[i] = &own[i]
	}
	return f, nil
}

// Open is [OpenFolder] for a directory in it.
func (f *Folder) Open(name string) (*Folder, error) {
	e, err := f.listed("open", name)
	if err != nil {
		return nil, err
	}
	if !e.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: ErrNot}
	}
	dir, err := f.dir.open(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return newFolder(dir, place{e.at.root, path.Join(e.at.dir, name)})
}

// Close closes the directory. Its entries stay available.
func (f *Folder) Close() error { return f.dir.close() }

// Entries returns the entries of the directory, sorted by name.
func (f *Folder) Entries() []fs.DirEntry { return f.entries }

func (f *Folder) listed(op, name string) (*entry, error) {
	i, ok := slices.BinarySearchFunc(f.entries, name, func(e fs.DirEntry, name string) int {
		return strings.Compare(e.Name(), name)
	})
	if !ok {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return f.entries[i].(*entry), nil
}

// Read is [ReadUnlinked] for a listed file, without another check before it is opened. A large file
// is read in its turn, which lasts until done is called, even after an error.
func (f *Folder) Read(name string, limit int64, t *Turn) (data []byte, done func(), err error) {
	done = func() {}
	e, err := f.listed("read", name)
	if err != nil {
		return nil, done, err
	}
	if !e.mode.IsRegular() { // opening a device may have an effect
		return nil, done, &fs.PathError{Op: "read", Path: name, Err: ErrNot}
	}
	file, err := f.dir.file(name)
	if err != nil {
		return nil, done, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	data, done, err = readTurn(file, limit, t)
	if err = errors.Join(err, file.close()); err != nil {
		return nil, done, &fs.PathError{Op: "read", Path: name, Err: unjoined(err)}
	}
	return data, done, nil
}

func readTurn(file openFile, limit int64, t *Turn) (data []byte, done func(), err error) {
	mode, size, err := file.stat()
	switch {
	case err != nil:
		return nil, func() {}, err
	case !mode.IsRegular():
		return nil, func() {}, ErrNot
	case size > limit:
		return nil, func() {}, &SizeError{Size: size, Max: limit}
	}
	done = t.Take(size)
	data, err = whole(file, size, limit)
	return data, done, err
}

// A place is the path of a listed directory.
type place struct {
	root *os.Root
	dir  string
}

// An entry is a directory entry as listed.
type entry struct {
	name string
	mode fs.FileMode
	at   *place
}

func (e *entry) Name() string      { return e.name }
func (e *entry) IsDir() bool       { return e.mode.IsDir() }
func (e *entry) Type() fs.FileMode { return e.mode }

// Info returns the current information of the entry.
func (e *entry) Info() (fs.FileInfo, error) { return e.at.root.Lstat(path.Join(e.at.dir, e.name)) }
