package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// swap lets two names change the files that they mean, in one step.
func swap(root *os.Root, a, b string) error {
	err := inDirectories(root, a, b, func(aDir int, a string, bDir int, b string) error {
		return unix.Renameat2(aDir, a, bDir, b, unix.RENAME_EXCHANGE)
	})
	// A file system that cannot says EINVAL, an older kernel or a sandbox one of the others.
	for _, cannot := range []error{unix.EINVAL, unix.ENOSYS, unix.ENOTSUP, unix.EPERM} {
		if errors.Is(err, cannot) {
			return errors.ErrUnsupported
		}
	}
	return err
}

// isWritten reports whether somebody has the file open for writing. The system gives a lease for
// reading only where nobody has (fcntl(2)), and only to the owner: of other people's files nothing
// is known.
func isWritten(f *os.File) bool {
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	written := false
	_ = conn.Control(func(fd uintptr) {
		_, err := unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_RDLCK)
		if written = errors.Is(err, unix.EAGAIN); err == nil {
			_, _ = unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_UNLCK)
		}
	})
	return written
}
