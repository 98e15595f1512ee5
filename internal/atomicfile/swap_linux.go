package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameAs renames a file below a root with the flags of renameat2(2).
func (w writer) renameAs(a, b string, how uint) error {
	err := w.inDirectories(a, b, func(aDir int, a string, bDir int, b string) error {
		return unix.Renameat2(aDir, a, bDir, b, how)
	})
	// A file system without exchange returns EINVAL, an older kernel or a sandbox one of the
	// others.
	for _, cannot := range []error{unix.EINVAL, unix.ENOSYS, unix.ENOTSUP, unix.EPERM} {
		if errors.Is(err, cannot) {
			return errors.ErrUnsupported
		}
	}
	return err
}

// The flags.
const (
	exchanging = unix.RENAME_EXCHANGE
	refusing   = unix.RENAME_NOREPLACE
)

// isAlone reports whether f is the only use of its file: no program has it open or mapped, and it
// has one name. Then a program that opens it waits until f is closed, or for the time that the
// system allows (/proc/sys/fs/lease-break-time, 45 s).
func isAlone(f *os.File) bool {
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	alone := false
	_ = conn.Control(func(fd uintptr) {
		var stat unix.Stat_t
		if unix.Fstat(int(fd), &stat) == nil && stat.Nlink == 1 {
			_, err := unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_WRLCK)
			alone = err == nil
		}
	})
	return alone
}

// isWritten reports whether a program has the file open for writing. The system grants a read lease
// only if no program has (fcntl(2)), and only to the owner: for files of other users the answer is
// unknown.
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
