package blobs

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"

	"github.com/git-jp/git-jp/internal/regular"
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

// top lists the store's directory and returns its error, because nothing was yielded yet. Each
// subdirectory is opened relative to its parent, so no path is resolved from the top again.
func (w walker) top() error {
	top, err := regular.OpenFolder(w.root, w.base)
	if err != nil {
		return err
	}
	defer top.Close() //nolint:errcheck // was only read
	for _, e := range top.Entries() {
		if e.Name() == tempDir {
			continue
		}
		first := func(in *regular.Folder, inner fs.DirEntry) bool {
			path := e.Name() + "/" + inner.Name()
			return w.dir(in, inner, path, func(_ *regular.Folder, file fs.DirEntry) bool {
				return w.file(file, path+"/"+file.Name())
			})
		}
		if !w.dir(top, e, e.Name(), first) {
			break
		}
	}
	return nil
}

// dir calls each with the entries of a directory if its name is two digits. e is its entry in the
// parent directory in, and path is its path in the store.
func (w walker) dir(
	in *regular.Folder, e fs.DirEntry, path string, each func(*regular.Folder, fs.DirEntry) bool,
) bool {
	if !e.IsDir() || !isPair(e.Name()) {
		return w.yield(Hash{}, &ForeignError{Path: path})
	}
	opened, err := in.Open(e.Name())
	if errors.Is(err, fs.ErrNotExist) {
		return true // removed since it was listed
	}
	if err != nil {
		return w.yield(Hash{}, fmt.Errorf("list blobs: %w", err))
	}
	defer opened.Close() //nolint:errcheck // was only read
	for _, inner := range opened.Entries() {
		if !each(opened, inner) {
			return false
		}
	}
	return true
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
