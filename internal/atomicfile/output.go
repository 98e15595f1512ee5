package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Output writes a file that a user named for an answer through the temporary file temp beside it,
// so that a failure leaves the old one. It writes directly to anything that is no regular file,
// follows symlinks, and keeps permissions. The error does not name the temporary file.
func Output(path string, temp func(path string) string, write func(io.Writer) error) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		err = writeBeside(path, temp(path), 0o666, write)
	case info.Mode().IsRegular():
		err = writeBeside(path, temp(path), info.Mode().Perm(), write)
	default:
		err = writeThrough(path, os.O_WRONLY, 0, write)
	}
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	return err
}

func writeBeside(path, temp string, perm os.FileMode, write func(io.Writer) error) error {
	err := writeThrough(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm, write)
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		_ = os.Remove(temp)
	}
	return err
}

func writeThrough(path string, flag int, perm os.FileMode, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, flag, perm)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
