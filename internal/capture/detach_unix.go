//go:build unix

package capture

import "syscall"

// apart starts a process in a new terminal session, and so outside our process group.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
