//go:build unix

package main

import "golang.org/x/sys/unix"

// sessionID returns the id of the terminal session, by which jp distinguishes terminals.
func sessionID() (int, error) {
	return unix.Getsid(0)
}
