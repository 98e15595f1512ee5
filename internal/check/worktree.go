package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"sync"
	"syscall"

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
	entries := make([]Entry, len(listed))
	for i, d := range listed {
		entries[i] = Entry{Name: d.Name(), Mode: d.Type()}
	}
	return entries, nil
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
// very many.
func (s *fileSource) Walk(ctx context.Context, dir string, f func(Entry)) error {
	top, err := list(s, dir)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var group sync.WaitGroup
	var failed error
	slots := make(chan struct{}, walkers)
	for _, e := range top {
		if !e.Mode.IsDir() {
			mu.Lock()
			f(e)
			mu.Unlock()
			continue
		}
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			found, err := s.below(ctx, dir, e.Name)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = err
			}
			for _, e := range found {
				f(e)
			}
		})
	}
	group.Wait()
	return failed
}

// below returns the files below the directory sub of dir, with paths below dir.
func (s *fileSource) below(ctx context.Context, dir, sub string) ([]Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	entries, err := list(s, path.Join(dir, sub))
	if err != nil {
		return nil, err
	}
	var all []Entry
	for _, e := range entries {
		e.Name = sub + "/" + e.Name
		if !e.Mode.IsDir() {
			all = append(all, e)
			continue
		}
		more, err := s.below(ctx, dir, e.Name)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}
