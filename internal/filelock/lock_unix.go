//go:build unix && !aix && !solaris

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// UnlinkWhileHeld makes the lock file be removed before its lock is released. In the other order a
// process could lock the file in between, and lose it.
const UnlinkWhileHeld = true

// Try tries to lock an open file, and reports whether it did. Closing the file releases the lock.
// On a file system without locks the error is [ErrNoLocks].
func Try(f *os.File) (bool, error) {
	err := flock(f, syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return false, nil
	case errors.Is(err, syscall.ENOLCK), errors.Is(err, errors.ErrUnsupported):
		return false, ErrNoLocks
	default:
		return err == nil, err
	}
}

// Unlock releases the lock of a file that is about to be closed. Closing it is not enough: a
// process that is being started briefly has a copy of every open file, and the lock is held as long
// as any copy is open.
func Unlock(f *os.File) error { return flock(f, syscall.LOCK_UN) }

func flock(f *os.File, how int) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var flockErr error
	err = conn.Control(func(fd uintptr) {
		for {
			flockErr = syscall.Flock(int(fd), how)
			if !errors.Is(flockErr, syscall.EINTR) {
				return
			}
		}
	})
	return errors.Join(err, flockErr)
}
