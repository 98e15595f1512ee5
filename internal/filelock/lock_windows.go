package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// UnlinkWhileHeld is false because Windows cannot remove an open file. The file also stays if
// another process has opened it.
const UnlinkWhileHeld = false

// lockByte is the byte that jp locks: after the content, which stays readable.
const lockByte = 0xFFFFFFFF

// Try tries to lock an open file, and reports whether it did. Closing the file releases the lock.
func Try(f *os.File) (bool, error) {
	const how = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	at := windows.Overlapped{Offset: lockByte}
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

// Unlock does nothing: no other process has a copy of the handle.
func Unlock(*os.File) error { return nil }
