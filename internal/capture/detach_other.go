//go:build !unix

package capture

import "syscall"

func apart() *syscall.SysProcAttr { return nil }
