//go:build !windows && (!unix || aix || solaris)

package filelock

import "os"

// UnlinkWhileHeld is not used without locks.
const UnlinkWhileHeld = false

// Try refuses: a lock that jp does not see would be useless.
func Try(*os.File) (bool, error) { return false, ErrNoLocks }

// Unlock refuses too.
func Unlock(*os.File) error { return ErrNoLocks }
