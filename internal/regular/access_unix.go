//go:build unix

package regular

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// Readable returns the error with which the system would refuse to read a file, or to list and
// enter a directory. It opens nothing.
func Readable(name string, isDir bool) error {
	mode := uint32(unix.R_OK)
	if isDir {
		mode |= unix.X_OK
	}
	return access(name, mode)
}

// Writable returns the error with which the system would refuse to create files in a directory.
func Writable(dir string) error { return access(dir, unix.W_OK|unix.X_OK) }

func access(name string, mode uint32) error {
	if err := unix.Faccessat(unix.AT_FDCWD, name, mode, unix.AT_EACCESS); err != nil {
		return &fs.PathError{Op: "access", Path: name, Err: err}
	}
	return nil
}
