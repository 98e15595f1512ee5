//go:build !windows && (!unix || aix || solaris)

package workspace

import "os"

const unlinkWhileHeld = false

// flock refuses: a lock that jp does not see would be useless.
func flock(*os.File) (bool, error) { return false, ErrNoLocks }

func funlock(*os.File) error { return ErrNoLocks }
