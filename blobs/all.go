package blobs

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
)

// All yields the hash of every blob file, in order. It goes by names and opens no
// file. What is not a blob, also a link or a directory under a blob's name, is yielded
// as a *[ForeignError], and a directory that cannot be read as the error of the file
// system, both with the zero Hash and without ending the sequence; so a caller that
// deletes must stop at the second. The directory of temporaries is passed over. A store
// that does not exist is empty.
//
// Files that come and go meanwhile may or may not be seen.
func (s *Store) All() iter.Seq2[Hash, error] {
	return func(yield func(Hash, error) bool) {
		err := s.do(s.root, func(root *os.Root) error {
			w := walker{fsys: root.FS(), base: s.name, yield: yield}
			return w.top()
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			yield(Hash{}, fmt.Errorf("list blobs: %w", err))
		}
	}
}

// walker lists a store. Its methods return false when the caller has had enough.
type walker struct {
	fsys  fs.FS
	base  string
	yield func(Hash, error) bool
}

// top lists the store's directory; its error is returned, because nothing was yielded.
func (w walker) top() error {
	entries, err := fs.ReadDir(w.fsys, w.base)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == tempDir {
			continue
		}
		if !w.dir(e, e.Name(), w.second) {
			break
		}
	}
	return nil
}

// dir calls each with the entries of the directory e at path name below the store, if
// its name is two digits.
func (w walker) dir(e fs.DirEntry, name string, each func(fs.DirEntry, string) bool) bool {
	if !e.IsDir() || !isPair(e.Name()) {
		return w.yield(Hash{}, &ForeignError{Path: name})
	}
	entries, err := fs.ReadDir(w.fsys, w.base+"/"+name)
	if errors.Is(err, fs.ErrNotExist) {
		return true // removed since it was listed
	}
	if err != nil {
		return w.yield(Hash{}, fmt.Errorf("list blobs: %w", err))
	}
	for _, e := range entries {
		if !each(e, name+"/"+e.Name()) {
			return false
		}
	}
	return true
}

func (w walker) second(e fs.DirEntry, name string) bool { return w.dir(e, name, w.file) }

func (w walker) file(e fs.DirEntry, name string) bool {
	h, ok := ParsePath(name)
	if !ok || !e.Type().IsRegular() {
		return w.yield(Hash{}, &ForeignError{Path: name})
	}
	return w.yield(h, nil)
}

// isPair reports whether name can be one of the first two parts of a blob's path.
func isPair(name string) bool {
	return len(name) == 2 && isDigit(name[0]) && isDigit(name[1])
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }
