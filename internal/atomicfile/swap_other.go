//go:build !linux && !darwin

package atomicfile

import (
	"errors"
	"os"
)

// swap is not possible here.
func swap(*os.Root, string, string) error { return errors.ErrUnsupported }

// renameNew is not possible here.
func renameNew(*os.Root, string, string) error { return errors.ErrUnsupported }

// alone has nothing to keep apart.
func (writer) alone() (done func()) { return func() {} }

// isWritten is not known here.
func isWritten(*os.File) bool { return false }
