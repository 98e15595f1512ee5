//go:build !unix

package ask

import (
	"errors"
	"os"
)

// singleKeys is not known here: lines answer.
func singleKeys(*os.File) (undo func(), err error) { return nil, errors.ErrUnsupported }
