package regular

import (
	"io/fs"
	"os"
)

// In is [os.Root.FS] of a directory that others fill too: it waits for nothing that it opens.
func In(root *os.Root) RootFS { return RootFS{root, root.FS()} }

// RootFS is the file system of [In].
type RootFS struct {
	root *os.Root
	fsys fs.FS
}

// Open implements [fs.FS].
func (r RootFS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	f, err := r.root.OpenFile(name, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, err // and no file that is nil
	}
	return f, nil
}

// ReadDir implements [fs.ReadDirFS].
func (r RootFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(r.fsys, name) }

// Stat implements [fs.StatFS].
func (r RootFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(r.fsys, name) }

// Lstat implements [fs.ReadLinkFS].
func (r RootFS) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(r.fsys, name) }

// ReadLink implements [fs.ReadLinkFS].
func (r RootFS) ReadLink(name string) (string, error) { return fs.ReadLink(r.fsys, name) }

// Dir is [os.DirFS] of a directory that others fill too: it waits for nothing that it opens.
func Dir(dir string) fs.FS { return dirFS{dir, os.DirFS(dir)} }

type dirFS struct {
	dir  string
	fsys fs.FS
}

func (d dirFS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	f, err := os.OpenFile(d.dir+"/"+name, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, err // and no file that is nil
	}
	return f, nil
}

func (d dirFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(d.fsys, name) }
func (d dirFS) Stat(name string) (fs.FileInfo, error)      { return fs.Stat(d.fsys, name) }
func (d dirFS) Lstat(name string) (fs.FileInfo, error)     { return fs.Lstat(d.fsys, name) }
func (d dirFS) ReadLink(name string) (string, error)       { return fs.ReadLink(d.fsys, name) }
