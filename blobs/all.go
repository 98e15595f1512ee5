package blobs

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
)

// All yields the hash of every blob file, in order. It only lists names and opens no file. An entry
// that is not a blob, also a link or a directory under a blob's name, is yielded as a
// *[ForeignError], and a directory that cannot be read as the error of the file system. Both have
// the zero Hash and do not end the sequence, so a caller that deletes must stop at the second. The
// directory of temporary files is skipped. A store that does not exist is empty.
//
// Files that are added or removed during the iteration may or may not be yielded.
func (s *Store) All() iter.Seq2[Hash, error] {
	return func(yield func(Hash, error) bool) {
		err := s.do(s.root, func(root *os.Root) error {
			return walker{root: root, base: s.name, yield: yield}.top()
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			yield(Hash{}, fmt.Errorf("list blobs: %w", err))
		}
	}
}

// A walker lists a store. Its methods return false when the caller stops the iteration.
type walker struct {
	root  *os.Root
	base  string
	yield func(Hash, error) bool
}

// top lists the store's directory. It returns an error if nothing was yielded.
func (w walker) top() error {
	entries, err := fs.ReadDir(w.root.FS(), w.base)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == tempDir {
			continue
		}
		if !w.first(e) {
			break
		}
	}
	return nil
}

// dir calls each for the entries of the directory e, which list reads and whose path below the
// store is path. If e is not a directory or its name is not two digits, dir yields a
// *[ForeignError].
func (w walker) dir(
	e fs.DirEntry, path string, list func() ([]fs.DirEntry, error), each func(fs.DirEntry) bool,
) bool {
	if !e.IsDir() || !isPair(e.Name()) {
		return w.yield(Hash{}, &ForeignError{Path: path})
	}
	entries, err := list()
	if errors.Is(err, fs.ErrNotExist) {
		return true // removed since it was listed
	}
	if err != nil {
		return w.yield(Hash{}, fmt.Errorf("list blobs: %w", err))
	}
	for _, e := range entries {
		if !each(e) {
			return false
		}
	}
	return true
}

// first lists an entry of the store's directory. It opens each directory there, so that paths below
// it are not resolved from the top.
func (w walker) first(e fs.DirEntry) bool {
	var opened *os.Root
	defer func() {
		if opened != nil {
			opened.Close() //nolint:errcheck // was only read
		}
	}()
	return w.dir(e, e.Name(), func() (_ []fs.DirEntry, err error) {
		if opened, err = w.root.OpenRoot(w.base + "/" + e.Name()); err != nil {
			return nil, err
		}
		return fs.ReadDir(opened.FS(), ".")
	}, func(inner fs.DirEntry) bool { return w.second(opened, inner, e.Name()+"/"+inner.Name()) })
}

func (w walker) second(in *os.Root, e fs.DirEntry, path string) bool {
	return w.dir(e, path, func() ([]fs.DirEntry, error) {
		return fs.ReadDir(in.FS(), e.Name())
	}, func(file fs.DirEntry) bool { return w.file(file, path+"/"+file.Name()) })
}

func (w walker) file(e fs.DirEntry, name string) bool {
	h, ok := ParsePath(name)
	if !ok || !e.Type().IsRegular() {
		return w.yield(Hash{}, &ForeignError{Path: name})
	}
	return w.yield(h, nil)
}

// isPair reports whether name can be one of the first two elements of a blob's path.
func isPair(name string) bool {
	return len(name) == 2 && isDigit(name[0]) && isDigit(name[1])
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }
