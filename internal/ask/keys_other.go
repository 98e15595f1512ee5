//go:build !unix

package ask

import (
	"errors"
	"os"
)

// singleKeys is not supported on this system: lines answer.
func singleKeys(*os.File) (undo func(), err error) { return nil, errors.ErrUnsupported }
