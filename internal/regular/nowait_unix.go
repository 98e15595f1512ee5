//go:build unix

package regular

import "syscall"

// noWait opens a file without blocking, in case it was replaced by a pipe.
const noWait = syscall.O_NONBLOCK | syscall.O_NOCTTY

// asDirectory at the end of a path makes the system refuse to open anything but a directory.
const asDirectory = "/."
