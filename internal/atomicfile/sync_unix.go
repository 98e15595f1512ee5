//go:build !windows

package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

// syncFlag opens a file for syncing; opening for reading is enough, also for read-only files.
const syncFlag = os.O_RDONLY

// noWait opens a directory, for which nobody waits, so that the system need not be asked whether
// it can be told that.
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
