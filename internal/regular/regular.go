package regular

import (
	"errors"
	"io/fs"
	"os"
)

// ErrNot is the error of reading what is no regular file: a pipe, a socket, a device, or a
// directory.
var ErrNot = errors.New("no regular file")

// ReadFile is [os.ReadFile] of a regular file, or of a link to one.
func ReadFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err := judge(name, info, err); err != nil {
		return nil, err
	}
	return os.ReadFile(name)
}

// Read is [fs.ReadFile] of a regular file, or of a link to one that the file system follows.
// One without a Stat of its own opens what it is asked about, and must not have pipes.
func Read(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	if err := judge(name, info, err); err != nil {
		return nil, err
	}
	return fs.ReadFile(fsys, name)
}

// Open opens a regular file, or a link to one, as [Read] reads it.
func Open(fsys fs.FS, name string) (fs.File, error) {
	info, err := fs.Stat(fsys, name)
	if err := judge(name, info, err); err != nil {
		return nil, err
	}
	return fsys.Open(name)
}

func judge(name string, info fs.FileInfo, err error) error {
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: name, Err: ErrNot}
	}
	return err
}
