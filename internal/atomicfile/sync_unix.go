//go:build !windows

package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

// syncFlag opens a file for syncing; reading suffices, also for read-only files.
const syncFlag = os.O_RDONLY

// openDir opens a directory below the root. Nobody waits for one, so that the system need not be
// asked whether that can be told it.
func (w writer) openDir(name string) (*os.File, error) {
	return w.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

func fsyncDir(d *os.File) error { return d.Sync() }

// ignoreUnsupported drops the error of file systems that cannot sync a directory:
// there is nothing that we could do better there.
func ignoreUnsupported(err error) error {
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}
