//go:build !unix

package regular

import (
	"io/fs"
	"os"
)

// A directory is an open directory.
type directory struct{ root *os.Root }

func openDirectory(root *os.Root, name string) (directory, error) {
	own, err := root.OpenRoot(name)
	return directory{own}, err
}

func (d directory) open(name string) (directory, error) { return openDirectory(d.root, name) }

func (d directory) list() ([]fs.DirEntry, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	return list(f)
}

func (d directory) close() error { return d.root.Close() }

func (d directory) file(name string) (openFile, error) {
	f, err := openBelow(d.root, name)
	return openFile{f}, err
}

// An openFile is an open file of any type.
type openFile struct{ *os.File }

func (f openFile) stat() (fs.FileMode, int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	return info.Mode(), info.Size(), nil
}

func (f openFile) close() error { return f.Close() }
