//go:build !linux

package atomicfile

import (
	"errors"
	"os"
)

// openVolume returns nil: files are synced one by one.
func openVolume(*os.Root) *os.File { return nil }

// isDurable is not known here.
func isDurable(*os.File) bool { return false }

func syncVolume(*os.File) error { return errors.ErrUnsupported }
