//go:build !windows

package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

// syncFlag opens a file for syncing; opening for reading is enough, also for read-only files.
const syncFlag = os.O_RDONLY

// noWait opens a directory as non-blocking. Directories never block, and with the flag Go does not
// ask the system whether it can set it.
const noWait = syscall.O_NONBLOCK

func fsyncDir(d *os.File) error { return d.Sync() }

// ignoreUnsupported drops the error of file systems that cannot sync a directory: there is no
// better way on them.
func ignoreUnsupported(err error) error {
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}
