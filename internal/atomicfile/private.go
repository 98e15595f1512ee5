package atomicfile

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
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
// not look into a directory that is already shared; [ShareAll] does.
func Share(dir string) error {
	if info, err := os.Lstat(dir); err != nil || isShared(info) {
		return err
	}
	_, err := ShareAll(dir)
	return err
}

// ShareAll is [Share] for what is closed to the group in a shared directory: an older release left
// it, or it was moved there by other means than [Adopt]. It returns how many files and directories
// it opened. Those of other members stay closed; the error names the first.
func ShareAll(dir string) (opened int, err error) {
	var failed error
	fail := func(err error) { failed = cmp.Or(failed, err) }
	err = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err == nil {
			var did bool
			did, err = share(name)
			if did {
				opened++
			}
		}
		switch {
		case errors.Is(err, fs.ErrNotExist) && name != dir: // removed since it was listed
		case err != nil && name == dir:
			return err
		case err != nil:
			fail(err)
		}
		return nil
	})
	return opened, cmp.Or(err, failed)
}

// share opens one file or directory to the group, and reports whether it had to.
func share(name string) (opened bool, err error) {
	info, err := os.Lstat(name)
	if err != nil {
		return false, err
	}
	want := privatePerm | 0o060
	switch mode := info.Mode(); {
	case mode.IsDir() && !isShared(info) || mode.IsDir() && mode.Perm()&0o070 != 0o070:
		want = privateDir | 0o070 | fs.ModeSetgid
	case !mode.IsRegular() || mode.Perm()&0o060 == 0o060:
		return false, nil
	}
	err = os.Chmod(name, want)
	return err == nil, err
}

// Adopt gives a file or a directory in a shared directory what git gives those that it makes there:
// the group may read and write it, and execute or enter it if the owner may, and what is made in it
// is the group's too. A rename keeps mode and group, and a umask excludes the group. A file of
// another member stays as it is.
func Adopt(name string) error {
	dir, err := os.Stat(filepath.Dir(name))
	if err != nil || !isShared(dir) {
		return err
	}
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
		return err
	}
	err = giveGroup(name, info, dir)
	mode := info.Mode() & (fs.ModePerm | fs.ModeSetgid)
	want := mode | 0o060 | mode&0o100>>3
	if info.IsDir() {
		want |= fs.ModeSetgid
	}
	if err == nil && mode != want {
		err = os.Chmod(name, want)
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

// isShared reports whether a directory is a group's.
func isShared(dir fs.FileInfo) bool {
	return dir.Mode()&fs.ModeSetgid != 0 && dir.Mode().Perm()&0o020 != 0
}

// shared returns the modes that give a group access to a private file or directory of this name.
// What exists of the directories above it decides, not the root: a shared directory can be below
// one that is not.
func (w writer) shared(name string) (file, dir fs.FileMode) {
	for {
		name = path.Dir(name)
		info, err := w.root.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist) && name != ".":
		case err != nil || !isShared(info):
			return 0, 0
		default:
			return 0o060, 0o070 | fs.ModeSetgid
		}
	}
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
