//go:build unix && !aix && !solaris

package gitlock

import (
	"errors"
	"os"
	"syscall"
)

// flock locks a file for as long as it is open, without waiting, and reports whether it could. On a
// file system without such locks every lock looks held.
func flock(f *os.File) bool {
	conn, err := f.SyscallConn()
	if err != nil {
		return false
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
	return err == nil && flockErr == nil
}
