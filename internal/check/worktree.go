package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/parallel"
	"github.com/git-jp/git-jp/internal/regular"
)

// FS returns a source that reads any file system. Its files have no ids.
func FS(name string, fsys fs.FS, limits regular.Limits) Source {
	return &fileSource{name, fsys, limits}
}

// WorkTree is a source of the files below a directory of the operating system. Close it after use.
type WorkTree struct {
	fileSource
	root *os.Root
}

// OpenWorkTree opens a working tree. It reads no file outside of it, whatever symbolic links it
// has.
func OpenWorkTree(dir string, limits regular.Limits) (*WorkTree, error) {
	root, err := regular.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open working tree: %w", err)
	}
	return &WorkTree{fileSource{WorkTreeName, regular.In(root), limits}, root}, nil
}

// Close closes the directory.
func (w *WorkTree) Close() error { return w.root.Close() }

// Sizes implements [Source]. Of files in order, those of a store's directory resolve its path once.
func (w *WorkTree) Sizes(ctx context.Context, files []File) ([]int64, error) {
	sizes := make([]int64, 0, len(files))
	for len(files) > 0 {
		dir := path.Dir(path.Dir(files[0].Path))
		n := slices.IndexFunc(files, func(f File) bool { return path.Dir(path.Dir(f.Path)) != dir })
		if n < 0 {
			n = len(files)
		}
		some, err := w.sizesBelow(ctx, dir, files[:n])
		if err != nil {
			return nil, err
		}
		sizes, files = append(sizes, some...), files[n:]
	}
	return sizes, nil
}

func (w *WorkTree) sizesBelow(ctx context.Context, dir string, files []File) ([]int64, error) {
	root, err := regular.OpenRootIn(w.root, dir)
	if err != nil {
		return w.fileSource.Sizes(ctx, files)
	}
	defer root.Close() //nolint:errcheck // was only read
	below := make([]File, len(files))
	for i, f := range files {
		below[i].Path = strings.TrimPrefix(f.Path, dir+"/")
	}
	return (&fileSource{fsys: regular.In(root)}).Sizes(ctx, below)
}

type fileSource struct {
	name   string
	fsys   fs.FS
	limits regular.Limits
}

// Name implements [Source].
func (s *fileSource) Name() string { return s.name }

// ReadFile implements [Source].
func (s *fileSource) ReadFile(name string) ([]byte, error) {
	return regular.Read(s.fsys, name, s.limits.Of(name))
}

// List implements [Source].
func (s *fileSource) List(dir string) ([]Entry, error) {
	listed, err := fs.ReadDir(s.fsys, dir)
	if err != nil {
		return nil, s.unlisted(dir, err)
	}
	return lists.Map(listed, func(d fs.DirEntry) Entry {
		return Entry{Name: d.Name(), Mode: d.Type()}
	}), nil
}

// unlisted returns the error of listing a directory. A directory behind a link to nothing is not
// missing: git has it, and its files are not removed.
func (s *fileSource) unlisted(dir string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for at := dir; at != "."; at = path.Dir(at) {
		info, statErr := fs.Lstat(s.fsys, at)
		switch {
		case statErr != nil:
		case info.IsDir():
			return err
		default:
			return &fs.PathError{Op: "list", Path: dir, Err: syscall.ENOTDIR}
		}
	}
	return err
}

// Sizes implements [Source]. The size of a file that was removed since it was listed is -1.
func (s *fileSource) Sizes(ctx context.Context, files []File) ([]int64, error) {
	sizes := make([]int64, len(files))
	for i, f := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sizes[i] = -1
		if info, err := fs.Lstat(s.fsys, f.Path); err == nil && info.Mode().IsRegular() {
			sizes[i] = info.Size()
		}
	}
	return sizes, nil
}

// walkers is how many directories are read at a time: reading one waits for the disk more than for
// the processor.
const walkers = 8

// Walk implements [Walker]. It reads directories concurrently, because a store with many blobs has
// very many, and opens each in the one that lists it.
func (s *fileSource) Walk(ctx context.Context, dir string, f func(Entry)) error {
	top, err := OpenDirectory(s, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return ListError(s, dir, err)
	}
	defer top.Close() //nolint:errcheck // was only read
	var mu sync.Mutex
	var failed error
	parallel.Each(len(top.Entries), walkers, func(i int) {
		var found []Entry
		add := func(e Entry) { found = append(found, e) }
		var err error
		if e := top.Entries[i]; e.Mode.IsDir() {
			err = top.walk(ctx, e.Name, e.Name, add)
		} else {
			add(e)
		}
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			failed = err
		}
		for _, e := range found {
			f(e)
		}
	})
	return failed
}
