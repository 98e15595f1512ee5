//go:build unix

package main

import "golang.org/x/sys/unix"

// sessionID returns the terminal session, by which jp tells terminals apart.
func sessionID() (int, error) {
	return unix.Getsid(0)
}
