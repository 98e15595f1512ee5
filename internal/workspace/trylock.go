package workspace

import "os"

// TryLock takes the system's lock of an open file, as those of conversations are taken, and
// reports whether it did. It goes with the file. Where files have no locks the answer is
// always yes.
func TryLock(f *os.File) (bool, error) { return flock(f) }

// Unlock lets go of the lock of a file that is about to be closed. To close it is not enough:
// a process that is being started has a copy of every open file for a moment, and the lock is
// held as long as there is one.
func Unlock(f *os.File) error { return funlock(f) }
