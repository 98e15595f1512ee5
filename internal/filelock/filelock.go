package filelock

import "errors"

// ErrNoLocks reports a file system without locks, such as a network share that is mounted without
// them. What two processes could write at the same time is not written there.
var ErrNoLocks = errors.New("the file system has no file locks")
