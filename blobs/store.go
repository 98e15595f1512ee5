package blobs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/regular"
)

// Options are the options of a store.
type Options struct {
	Limits Limits
	// Now returns the modification time of a blob that is written again. If it is nil, the file of
	// such a blob is replaced with a fresh copy, which costs more and has the same effect.
	Now func() time.Time
	// Private denies other users access to the files that are written.
	Private bool
	// Elsewhere provides blobs that have no file in the store. It may be nil.
	Elsewhere Elsewhere
}

// A Store is a directory of blobs. It is safe for concurrent use by many goroutines and processes.
type Store struct {
	dir     string // absolute
	name    string // of the directory in its parent
	limits  Limits
	now     func() time.Time
	opens   atomic.Int64
	hook    func(atomicfile.Step, string) error // for tests
	private bool                                // other users have no access

	elsewhere Elsewhere // may be nil

	mu     sync.Mutex
	parent *os.Root // nil until needed; the directory may not exist yet
	closed bool
	volume *atomicfile.Volume // nil until opened, and if files are synced one by one

	hasOpened bool // the volume, if there is one
}

// Open returns the store in dir, usually .jp/blobs. If dir does not exist, the store is empty, and
// the first write creates it.
//
// Every access goes through an [os.Root] of dir's parent. So a symbolic link at dir or below may
// lead anywhere within .jp, but any access through a link that leads out of .jp is an error. Links
// in the path of dir's parent are up to the caller.
func Open(dir string, o Options) (*Store, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open blob store %q: %w", dir, err)
	}
	return &Store{
		dir: abs, name: filepath.Base(abs), limits: o.Limits, now: o.Now, private: o.Private,
		elsewhere: o.Elsewhere,
	}, nil
}

// Dir returns the absolute path of the store's directory.
func (s *Store) Dir() string { return s.dir }

// Limits returns the limits that the store was opened with.
func (s *Store) Limits() Limits { return s.limits }

// Opens returns how many blob files were opened so far, for tests of laziness and for traces.
func (s *Store) Opens() int64 { return s.opens.Load() }

// Close releases the directory. Further calls fail with [fs.ErrClosed].
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	err := s.volume.Close()
	s.volume = nil
	if s.parent != nil {
		err = errors.Join(err, s.parent.Close())
		s.parent = nil
	}
	return err
}

// Volume returns the file system of the store's directory, which it creates; nil if files must be
// synced one by one. All who write blobs in a [Joint], and what refers to them, share it.
func (s *Store) Volume() *atomicfile.Volume {
	dir, err := s.openDir()
	if err != nil {
		return nil // who writes next has the error too
	}
	defer dir.Close() //nolint:errcheck // nothing is written through it
	return s.volumeOf(dir)
}

func (s *Store) volumeOf(dir *os.Root) *atomicfile.Volume {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.hasOpened && !s.closed {
		s.volume, s.hasOpened = atomicfile.OpenVolume(dir), true
	}
	return s.volume
}

// opened returns the volume if something was written to it.
func (s *Store) opened() *atomicfile.Volume {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.volume
}

// path returns the path of h's file below the parent.
func (s *Store) path(h Hash) string {
	b := make([]byte, 0, len(s.name)+1+pathLen)
	return string(h.appendPath(append(append(b, s.name...), '/')))
}

// root returns the store's parent, which is opened once. The parent is held open and not the store,
// because git removes the store's directory when a branch without blobs is checked out, and nothing
// can be written in a removed directory that is held open.
func (s *Store) root() (*os.Root, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, &fs.PathError{Op: "open", Path: s.dir, Err: fs.ErrClosed}
	}
	if s.parent == nil {
		parent, err := regular.OpenRoot(filepath.Dir(s.dir))
		if err != nil {
			return nil, err
		}
		s.parent = parent
	}
	return s.parent, nil
}

// create is like root, but creates the parent if it does not exist.
func (s *Store) create() (*os.Root, error) {
	root, err := s.root()
	if !errors.Is(err, fs.ErrNotExist) {
		return root, err
	}
	if s.private {
		err = atomicfile.MkdirPrivate(filepath.Dir(s.dir))
	} else {
		err = os.MkdirAll(filepath.Dir(s.dir), atomicfile.DirPerm)
	}
	if err != nil {
		return nil, err
	}
	return s.root()
}

// do runs f with the result of open, and once more if f misses a file because the parent itself was
// removed and created again in the meantime.
func (s *Store) do(open func() (*os.Root, error), f func(*os.Root) error) error {
	root, err := open()
	if err != nil {
		return err
	}
	err = f(root)
	if !errors.Is(err, fs.ErrNotExist) || !s.forget(root) {
		return err
	}
	if root, err = open(); err != nil {
		return err
	}
	return f(root)
}

// forget drops root if the parent's path now leads to another directory. It does not close root:
// other goroutines may be using it, and the runtime closes it when they are done.
func (s *Store) forget(root *os.Root) bool {
	held, err := root.Stat(".")
	if err != nil {
		return false
	}
	if now, err := os.Stat(filepath.Dir(s.dir)); err == nil && os.SameFile(held, now) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.parent == root {
		s.parent = nil
	}
	return true
}

// openBlob opens h's file, at name below root, for reading and returns its size. It follows no
// link, because git stores a link as a link and not its target.
func (s *Store) openBlob(root *os.Root, name string, h Hash) (*os.File, int64, error) {
	f, err := regular.OpenUnlinked(root, name)
	if errors.Is(err, regular.ErrNot) {
		if info, statErr := root.Lstat(name); statErr == nil {
			err = notRegular(h, info.Mode())
		}
	}
	if err != nil {
		return nil, 0, err
	}
	s.opens.Add(1)
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}
