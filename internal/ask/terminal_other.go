//go:build !unix

package ask

import (
	"os"
	"os/signal"
)

// foreground is true: nothing here has jobs in the background.
func foreground(*os.File) bool { return true }

// raise lets the next signal end the process: none can be sent here.
func raise(s os.Signal) { signal.Reset(s) }
