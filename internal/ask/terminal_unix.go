//go:build unix

package ask

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// foreground reports whether this process is in the foreground of the terminal: a background job is
// stopped when it reads from it.
func foreground(tty *os.File) bool {
	c, err := tty.SyscallConn()
	if err != nil {
		return true
	}
	group := 0
	ask := func(fd uintptr) { group, err = unix.IoctlGetInt(int(fd), unix.TIOCGPGRP) }
	if e := c.Control(ask); e != nil || err != nil {
		return true
	}
	return group == unix.Getpgrp()
}

// raise ends the process by a signal, so that its parent sees which.
func raise(s os.Signal) {
	signal.Reset(s)
	if n, ok := s.(syscall.Signal); ok {
		_ = syscall.Kill(os.Getpid(), n)
	}
}
