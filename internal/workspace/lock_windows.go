package workspace

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// unlinkWhileHeld is false because an open file cannot be removed here. Who opened it
// meanwhile keeps it from being removed, too.
const unlinkWhileHeld = false

// lockByte is the one that jp locks: beyond the content, which stays readable.
const lockByte = 0xFFFFFFFF

// flock takes the exclusive lock that jp takes, without waiting.
func flock(f *os.File) (bool, error) {
	const how = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	at := windows.Overlapped{Offset: lockByte}
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

// funlock does nothing: nobody else has a copy of the file.
func funlock(*os.File) error { return nil }
