package regular

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// isLocal is [fs.ValidPath] for names that need not be UTF-8: git commits names of any bytes, and a
// foreign file with such a name must not hide others.
func isLocal(name string) bool {
	return path.Clean(name) == name && filepath.IsLocal(filepath.FromSlash(name))
}

// In is [os.Root.FS] for a directory that others write to as well: opening a file never blocks, and
// names need not be UTF-8.
func In(root *os.Root) RootFS { return RootFS{root} }

// ErrOutside is the error for a name behind a symbolic link that leads out of the directory.
var ErrOutside = errors.New("a symbolic link in this path leads elsewhere")

// RootFS is the file system of [In].
type RootFS struct{ root *os.Root }

// explain replaces the error of [os.Root] for links that lead out of it, which names a rule of that
// package, by [ErrOutside].
func (r RootFS) explain(err error) error {
	at, ok := errors.AsType[*fs.PathError](err)
	if !ok {
		return err
	}
	_, outside := r.root.Lstat("..")
	if is, ok := errors.AsType[*fs.PathError](outside); ok && errors.Is(at.Err, is.Err) {
		return &fs.PathError{Op: at.Op, Path: at.Path, Err: ErrOutside}
	}
	return err
}

// parent opens the directory of a file, so that several steps resolve its path once. It returns the
// name of the file in it.
func (r RootFS) parent(name string) (dir RootFS, base string, err error) {
	root, err := OpenRootIn(r.root, path.Dir(name))
	return RootFS{root}, path.Base(name), named(err, name)
}

// openRegular opens a regular file of at most limit bytes, or a link to one if follow is true. The
// opened file has to be judged again.
func (r RootFS) openRegular(name string, limit int64, follow bool) (*os.File, error) {
	dir, base, err := r.parent(name)
	if err != nil {
		return nil, err
	}
	defer dir.root.Close() //nolint:errcheck // was only read
	info, err := dir.root.Lstat(base)
	if follow && err == nil && info.Mode()&fs.ModeSymlink != 0 {
		dir, base = r, name // it may lead to another directory
		info, err = r.root.Stat(name)
	}
	err = wanted{name, limit}.judge(info, err) // opening a device may have an effect
	var f *os.File
	if err == nil {
		f, err = openBelow(dir.root, base)
	}
	return f, named(err, name)
}

// read is [Read], or [ReadUnlinked] if follow is false.
func (r RootFS) read(name string, limit int64, follow bool) ([]byte, error) {
	f, err := explained(r, "open", name, func(name string) (*os.File, error) {
		return r.openRegular(name, limit, follow)
	})
	if err != nil {
		return nil, err
	}
	return readOpen(f, name, limit)
}

// Open implements [fs.FS].
func (r RootFS) Open(name string) (fs.File, error) {
	f, err := r.open("open", name)
	if err != nil {
		return nil, err // not a nil *os.File in an interface
	}
	return f, nil
}

func (r RootFS) open(op, name string) (*os.File, error) {
	return explained(r, op, name, func(name string) (*os.File, error) {
		return openBelow(r.root, name)
	})
}

// ReadDir implements [fs.ReadDirFS].
func (r RootFS) ReadDir(name string) ([]fs.DirEntry, error) {
	f, err := r.open("readdir", name)
	if err != nil {
		return nil, err
	}
	return list(f)
}

// list returns the entries of an open directory, sorted by name, and closes it.
func list(dir *os.File) ([]fs.DirEntry, error) {
	defer dir.Close() //nolint:errcheck // was only read
	return sorted(dir)
}

func sorted(dir *os.File) ([]fs.DirEntry, error) {
	entries, err := dir.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int {
		return strings.Compare(a.Name(), b.Name())
	})
	return entries, err
}

// OpenFolder opens and lists a directory to read several of its files. Close it after use.
func (r RootFS) OpenFolder(name string) (*Folder, error) {
	return explained(r, "open", name, func(name string) (*Folder, error) {
		return OpenFolder(r.root, name)
	})
}

// Stat implements [fs.StatFS].
func (r RootFS) Stat(name string) (fs.FileInfo, error) {
	return explained(r, "stat", name, r.root.Stat)
}

// Lstat implements [fs.ReadLinkFS].
func (r RootFS) Lstat(name string) (fs.FileInfo, error) {
	return explained(r, "lstat", name, r.root.Lstat)
}

// ReadLink implements [fs.ReadLinkFS].
func (r RootFS) ReadLink(name string) (string, error) {
	return explained(r, "readlink", name, r.root.Readlink)
}

// explained calls f for a name below the root.
func explained[T any](r RootFS, op, name string, f func(string) (T, error)) (T, error) {
	got, err := local(op, name, f)
	return got, r.explain(err)
}

// local calls f for a name that leads out of no directory.
func local[T any](op, name string, f func(string) (T, error)) (got T, err error) {
	if !isLocal(name) {
		return got, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	return f(name)
}

// Dir is [os.DirFS] for a directory that others write to as well: opening a file never blocks, and
// names need not be UTF-8.
func Dir(dir string) fs.FS { return dirFS(dir) }

type dirFS string

// within calls f for the path of a name in the directory.
func within[T any](d dirFS, op, name string, f func(path string) (T, error)) (T, error) {
	return local(op, name, func(name string) (T, error) { return f(string(d) + "/" + name) })
}

func (d dirFS) Open(name string) (fs.File, error) {
	return within(d, "open", name, func(path string) (fs.File, error) {
		f, err := openNow(path)
		if err != nil {
			return nil, err // not a nil *os.File in an interface
		}
		return f, nil
	})
}

func (d dirFS) ReadDir(name string) ([]fs.DirEntry, error) {
	return within(d, "readdir", name, os.ReadDir)
}

func (d dirFS) Stat(name string) (fs.FileInfo, error) { return within(d, "stat", name, os.Stat) }

func (d dirFS) Lstat(name string) (fs.FileInfo, error) { return within(d, "lstat", name, os.Lstat) }

func (d dirFS) ReadLink(name string) (string, error) {
	return within(d, "readlink", name, os.Readlink)
}
