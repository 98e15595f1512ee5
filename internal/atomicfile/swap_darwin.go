package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameAs renames a file below a root with the flags of renameatx_np(2).
func (w writer) renameAs(a, b string, how uint32) error {
	err := w.inDirectories(a, b, func(aDir int, a string, bDir int, b string) error {
		return unix.RenameatxNp(aDir, a, bDir, b, how)
	})
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EINVAL) {
		return errors.ErrUnsupported
	}
	return err
}

// The flags.
const (
	exchanging = unix.RENAME_SWAP
	refusing   = unix.RENAME_EXCL
)

// isWritten is not known here.
func isWritten(*os.File) bool { return false }

// isAlone cannot find out on this system.
func isAlone(*os.File) bool { return false }
