//go:build !linux && !darwin

package atomicfile

import (
	"errors"
	"os"
)

// exchange is not possible here.
func (writer) exchange(string, string) error { return errors.ErrUnsupported }

// renameNew is not possible here.
func (writer) renameNew(string, string) error { return errors.ErrUnsupported }

// hold has no step to save.
func (*temp) hold(string) {}

// alone does nothing, since there is no exchange.
func (writer) alone() (done func()) { return func() {} }

// isWritten cannot find out on this system.
func isWritten(*os.File) bool { return false }
