//go:build unix

package capture

import "syscall"

// apart makes a process that is in no group and no terminal session of ours.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
