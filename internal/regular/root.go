package regular

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Cause returns the reason of an error of the operating system, without the operation and the path:
// for messages that name the file themselves.
func Cause(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}

// Resolved returns a path with its links followed, or as it is if that fails.
func Resolved(name string) string {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		return real
	}
	return name
}

// Exists reports whether something has this name, for callers that may treat an error as absence.
func Exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// OpenRoot is [os.OpenRoot], except that it never waits: os.OpenRoot opens whatever is at the path,
// and the opening of a pipe blocks until a writer opens it.
func OpenRoot(dir string) (*os.Root, error) {
	if dir == "" {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: fs.ErrNotExist}
	}
	root, err := os.OpenRoot(dir + asDirectory)
	return root, named(err, dir)
}

// named makes an error name the path that was given.
func named(err error, name string) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		at.Path = name
	}
	return err
}

// OpenRootIn is OpenRoot for a directory below another one.
func OpenRootIn(root *os.Root, dir string) (*os.Root, error) {
	below, err := root.OpenRoot(dir + asDirectory)
	return below, named(err, dir)
}

// Whole makes an error of an operation below a root name the path from the directory with which the
// root was opened: a message with a name below it does not say where to look.
func Whole(root *os.Root, err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok && !filepath.IsAbs(at.Path) {
		at.Path = filepath.Join(root.Name(), at.Path)
	}
	return err
}
