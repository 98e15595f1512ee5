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

func localPath(op, name string) error {
	if isLocal(name) {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
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
	return RootFS{root}, path.Base(name), r.explain(named(err, name))
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
	if err == nil {
		err = judge(name, info, limit) // opening a device may have an effect
	}
	var f *os.File
	if err == nil {
		f, err = dir.root.OpenFile(base, os.O_RDONLY|noWait, 0)
	}
	return f, r.explain(named(err, name))
}

// read is [Read], or [ReadUnlinked] if follow is false.
func (r RootFS) read(name string, limit int64, follow bool) ([]byte, error) {
	if err := localPath("open", name); err != nil {
		return nil, err
	}
	f, err := r.openRegular(name, limit, follow)
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
	if err := localPath(op, name); err != nil {
		return nil, err
	}
	f, err := r.root.OpenFile(name, os.O_RDONLY|noWait, 0)
	return f, r.explain(err)
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
	if err := localPath("open", name); err != nil {
		return nil, err
	}
	f, err := OpenFolder(r.root, name)
	return f, r.explain(err)
}

// Stat implements [fs.StatFS].
func (r RootFS) Stat(name string) (fs.FileInfo, error) {
	if err := localPath("stat", name); err != nil {
		return nil, err
	}
	info, err := r.root.Stat(name)
	return info, r.explain(err)
}

// Lstat implements [fs.ReadLinkFS].
func (r RootFS) Lstat(name string) (fs.FileInfo, error) {
	if err := localPath("lstat", name); err != nil {
		return nil, err
	}
	info, err := r.root.Lstat(name)
	return info, r.explain(err)
}

// ReadLink implements [fs.ReadLinkFS].
func (r RootFS) ReadLink(name string) (string, error) {
	if err := localPath("readlink", name); err != nil {
		return "", err
	}
	to, err := r.root.Readlink(name)
	return to, r.explain(err)
}

// Dir is [os.DirFS] for a directory that others write to as well: opening a file never blocks, and
// names need not be UTF-8.
func Dir(dir string) fs.FS { return dirFS(dir) }

type dirFS string

func (d dirFS) path(op, name string) (string, error) {
	return string(d) + "/" + name, localPath(op, name)
}

func (d dirFS) Open(name string) (fs.File, error) {
	name, err := d.path("open", name)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, err // not a nil *os.File in an interface
	}
	return f, nil
}

func (d dirFS) ReadDir(name string) ([]fs.DirEntry, error) {
	name, err := d.path("readdir", name)
	if err != nil {
		return nil, err
	}
	return os.ReadDir(name)
}

func (d dirFS) Stat(name string) (fs.FileInfo, error) {
	name, err := d.path("stat", name)
	if err != nil {
		return nil, err
	}
	return os.Stat(name)
}

func (d dirFS) Lstat(name string) (fs.FileInfo, error) {
	name, err := d.path("lstat", name)
	if err != nil {
		return nil, err
	}
	return os.Lstat(name)
}

func (d dirFS) ReadLink(name string) (string, error) {
	name, err := d.path("readlink", name)
	if err != nil {
		return "", err
	}
	return os.Readlink(name)
}
