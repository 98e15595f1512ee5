package regular

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// A Folder is a directory that is held open, as it was when it was listed: who reads several of
// its files goes down to it once. Nothing in it leads out of it.
type Folder struct {
	root    *os.Root
	entries []fs.DirEntry
}

// OpenFolder opens and lists a directory. Close it after use.
func OpenFolder(root *os.Root, name string) (*Folder, error) {
	own, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	f := &Folder{root: own}
	if f.entries, err = fs.ReadDir(own.FS(), "."); err != nil {
		return nil, errors.Join(fmt.Errorf("list %s: %w", name, err), f.Close())
	}
	return f, nil
}

// Open is [OpenFolder] of a directory in it.
func (f *Folder) Open(name string) (*Folder, error) { return OpenFolder(f.root, name) }

// Close closes the directory. What was listed stays.
func (f *Folder) Close() error { return f.root.Close() }

// Entries are what lay in the directory, sorted by name.
func (f *Folder) Entries() []fs.DirEntry { return f.entries }

// Read is [ReadUnlinked] of a file that was listed, which is not looked at another time before it
// is opened.
func (f *Folder) Read(name string, limit int64) ([]byte, error) {
	i, ok := slices.BinarySearchFunc(f.entries, name, func(e fs.DirEntry, name string) int {
		return strings.Compare(e.Name(), name)
	})
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	info, err := f.entries[i].Info()
	if err == nil {
		err = judge(name, info, limit)
	}
	if err != nil {
		return nil, err
	}
	file, err := f.root.OpenFile(name, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, err
	}
	return readOpen(file, name, limit)
}
