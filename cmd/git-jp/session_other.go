//go:build !unix

package main

import (
	"errors"
	"os"
	"os/signal"
)

// sessionID has no answer here; the variables that jp tries next may have one.
func sessionID() (int, error) {
	return 0, errors.ErrUnsupported
}

// foreground is true: nothing here has jobs in the background.
func foreground(*os.File) bool { return true }

// raise lets the next signal end the process: none can be sent here.
func raise(s os.Signal) { signal.Reset(s) }
