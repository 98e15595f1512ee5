//go:build !unix

package ask

import (
	"os"
	"os/signal"
)

// foreground returns true: there are no background jobs on this system.
func foreground(*os.File) bool { return true }

// raise restores the default action of the signal: this system cannot send signals.
func raise(s os.Signal) { signal.Reset(s) }
