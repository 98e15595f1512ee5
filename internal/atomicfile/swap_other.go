//go:build !linux && !darwin

package atomicfile

import (
	"errors"
	"os"
)

// exchange is not supported on this system.
func (writer) exchange(string, string) error { return errors.ErrUnsupported }

// renameNew is not supported on this system.
func (writer) renameNew(string, string) error { return errors.ErrUnsupported }

// hold does nothing: no step here can reuse an open directory.
func (*temp) hold(string) {}

// alone does nothing, since there is no exchange.
func (writer) alone() (done func()) { return func() {} }

// isWritten cannot find out on this system.
func isWritten(*os.File) bool { return false }

// isAlone cannot find out on this system.
func isAlone(*os.File) bool { return false }
