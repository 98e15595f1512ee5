package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// The modes of files and directories that are closed to other users.
const (
	privatePerm fs.FileMode = 0o600
	privateDir  fs.FileMode = 0o700
)

// MkdirPrivate creates dir and its missing parents, closed to other users. Below a shared
// directory, one with the set-group-ID bit in which the group may write as git makes them for
// core.sharedRepository, the group may enter and write: its members share the repository. An
// existing directory is not changed.
func MkdirPrivate(dir string) error {
	dir = filepath.Clean(dir) // with a trailing slash it would be its own parent
	err := os.Mkdir(dir, privateDir)
	if parent := filepath.Dir(dir); errors.Is(err, fs.ErrNotExist) && parent != dir {
		if err := MkdirPrivate(parent); err != nil {
			return err
		}
		err = os.Mkdir(dir, privateDir)
	}
	switch info, unknown := os.Stat(dir); {
	case errors.Is(err, fs.ErrExist) && unknown == nil && info.IsDir():
		return nil
	case err != nil:
		return err
	}
	parent, err := os.Stat(filepath.Dir(dir))
	if err != nil || !isShared(parent) {
		return err
	}
	return os.Chmod(dir, privateDir|0o070|fs.ModeSetgid)
}

// Share opens a directory of [MkdirPrivate], and everything in it, to the group of a shared
// repository that lacks the setgid bit: core.sharedRepository was set later, or the system's
// directories do not need the bit. Files created in it afterwards belong to the group too. It does
// not look into a directory that is already shared.
func Share(dir string) error {
	if info, err := os.Lstat(dir); err != nil || isShared(info) {
		return err
	}
	return filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return os.Chmod(name, privateDir|0o070|fs.ModeSetgid)
		case e.Type().IsRegular():
			return os.Chmod(name, privatePerm|0o060)
		}
		return nil
	})
}

// isShared reports whether a directory is a group's.
func isShared(dir fs.FileInfo) bool {
	return dir.Mode()&fs.ModeSetgid != 0 && dir.Mode().Perm()&0o020 != 0
}

// shared returns the modes that give a group access to private files and directories below the
// root.
func (w writer) shared() (file, dir fs.FileMode) {
	info, err := w.root.Stat(".")
	if err != nil || !isShared(info) {
		return 0, 0
	}
	return 0o060, 0o070 | fs.ModeSetgid
}

// OpenPrivate opens a file like [os.OpenFile], and creates a missing one closed like the
// directories of [MkdirPrivate].
func OpenPrivate(name string, flag int) (*os.File, error) {
	f, err := os.OpenFile(name, flag|os.O_CREATE|os.O_EXCL, privatePerm)
	if errors.Is(err, fs.ErrExist) {
		return os.OpenFile(name, flag, privatePerm)
	}
	if err != nil {
		return nil, err
	}
	if dir, err := os.Stat(filepath.Dir(name)); err == nil && isShared(dir) {
		_ = f.Chmod(privatePerm | 0o060) // if it fails, only the creator has access
	}
	return f, nil
}

// Close closes a directory to other users if [MkdirPrivate] would have created it so, and reports
// whether it had to.
func Close(dir string) (closed bool, err error) {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.IsDir() || info.Mode().Perm()&0o077 == 0 || runtime.GOOS == "windows":
		return false, nil
	}
	parent, err := os.Stat(filepath.Dir(dir))
	if err != nil || isShared(parent) {
		return false, err
	}
	return true, os.Chmod(dir, privateDir)
}
