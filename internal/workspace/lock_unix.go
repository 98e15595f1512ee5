//go:build unix && !aix && !solaris

package workspace

import (
	"errors"
	"os"
	"syscall"
)

// unlinkWhileHeld makes the lock file be removed before its lock is released. In the other order a
// process could lock the file in between, and lose it.
const unlinkWhileHeld = true

// flock takes the same exclusive lock as jp, without waiting.
func flock(f *os.File) (bool, error) {
	err := flockAs(f, syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return false, nil
	case errors.Is(err, syscall.ENOLCK), errors.Is(err, errors.ErrUnsupported):
		return false, ErrNoLocks
	default:
		return err == nil, err
	}
}

func funlock(f *os.File) error { return flockAs(f, syscall.LOCK_UN) }

func flockAs(f *os.File, how int) error {
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
