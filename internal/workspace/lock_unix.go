//go:build unix && !aix && !solaris

package workspace

import (
	"errors"
	"os"
	"syscall"
)

// unlinkWhileHeld says that a lock file is removed before its lock is released. The
// other way round a process could lock the file in between, and lose it.
const unlinkWhileHeld = true

// flock takes the exclusive lock that jp takes, without waiting.
func flock(f *os.File) (bool, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return false, err
	}
	var flockErr error
	err = conn.Control(func(fd uintptr) {
		for {
			flockErr = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB)
			if !errors.Is(flockErr, syscall.EINTR) {
				return
			}
		}
	})
	if errors.Is(flockErr, syscall.EWOULDBLOCK) {
		return false, err
	}
	return flockErr == nil, errors.Join(err, flockErr)
}
