//go:build !windows && (!unix || aix || solaris)

package workspace

import (
	"errors"
	"os"
)

const unlinkWhileHeld = false

// flock refuses: a lock that jp does not see would be useless.
func flock(*os.File) (bool, error) { return false, errors.ErrUnsupported }

func funlock(*os.File) error { return errors.ErrUnsupported }
