package regular

import (
	"errors"
	"io/fs"
	"os"
)

// OpenRoot is [os.OpenRoot], except that it never waits: os.OpenRoot opens whatever is at the path,
// and the opening of a pipe blocks until a writer opens it.
func OpenRoot(dir string) (*os.Root, error) {
	if dir == "" {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: fs.ErrNotExist}
	}
	root, err := os.OpenRoot(dir + asDirectory)
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		at.Path = dir
	}
	return root, err
}
