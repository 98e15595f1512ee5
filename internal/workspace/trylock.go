package workspace

import (
	"errors"
	"os"
)

// ErrNoLocks reports a file system without locks, such as a network share that is mounted without
// them. What two processes could write at the same time is not written there.
var ErrNoLocks = errors.New("the file system has no file locks")

// TryLock tries to lock an open file in the way of conversation locks, and reports whether it did.
// Closing the file releases the lock. On a file system without locks it returns [ErrNoLocks].
func TryLock(f *os.File) (bool, error) { return flock(f) }

// Unlock releases the lock of a file that is about to be closed. Closing it is not enough: a
// process that is being started briefly has a copy of every open file, and the lock is held as long
// as any copy is open.
func Unlock(f *os.File) error { return funlock(f) }
