package workspace

import "os"

// TryLock takes the system's lock of an open file, as those of conversations are taken, and
// reports whether it did. It goes with the file. Where files have no locks the answer is
// always yes.
func TryLock(f *os.File) (bool, error) { return flock(f) }
