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

// A Folder is a directory that is held open, as it was when it was listed: who reads several of
// its files goes down to it once. Nothing in it leads out of it. Only what was listed is opened,
// by its name alone, and no link is followed.
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

// Open is [OpenFolder] of a directory in it.
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

// Close closes the directory. What was listed stays.
func (f *Folder) Close() error { return f.dir.close() }

// Entries are what lay in the directory, sorted by name.
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

// Read is [ReadUnlinked] of a file that was listed, which is not looked at another time before it
// is opened. A large one is read in its turn, which lasts until done is called, also after an
// error.
func (f *Folder) Read(name string, limit int64, t *Turn) (data []byte, done func(), err error) {
	done = func() {}
	e, err := f.listed("read", name)
	if err != nil {
		return nil, done, err
	}
	if !e.mode.IsRegular() { // a device may do something when it is opened
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

// A place is where a directory was listed.
type place struct {
	root *os.Root
	dir  string
}

// An entry is what a directory said of something in it.
type entry struct {
	name string
	mode fs.FileMode
	at   *place
}

func (e *entry) Name() string      { return e.name }
func (e *entry) IsDir() bool       { return e.mode.IsDir() }
func (e *entry) Type() fs.FileMode { return e.mode }

// Info looks at what lies there by now.
func (e *entry) Info() (fs.FileInfo, error) { return e.at.root.Lstat(path.Join(e.at.dir, e.name)) }
