//go:build !windows

package gittest

import (
	"errors"
	"os/exec"
	"syscall"
	"testing"
)

// WasKilled runs a command and reports whether a SIGKILL ended it. Any other failure ends the test.
func WasKilled(t *testing.T, cmd *exec.Cmd) bool {
	t.Helper()
	err := cmd.Run()
	exit, failed := errors.AsType[*exec.ExitError](err)
	if failed && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return true
	}
	if err != nil {
		t.Fatalf("%q in %q: %v", cmd.Args, cmd.Dir, err)
	}
	return false
}
