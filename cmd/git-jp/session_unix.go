//go:build unix

package main

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// sessionID returns the id of the terminal session, by which jp distinguishes terminals.
func sessionID() (int, error) {
	return unix.Getsid(0)
}

// leader returns the age of the process that leads a terminal session, 0 if the system does not
// show it, and whether there is one.
func leader(pid int) (age time.Duration, alive bool) {
	if errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		return 0, false
	}
	return ageOf(pid), true
}
