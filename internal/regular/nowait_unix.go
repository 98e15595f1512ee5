//go:build unix

package regular

import "syscall"

// noWait opens what may have become a pipe since it was looked at.
const noWait = syscall.O_NONBLOCK | syscall.O_NOCTTY
