//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// mostMemory is how many bytes a program had in memory at most.
func mostMemory(ended *os.ProcessState) int64 {
	usage, ok := ended.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return usage.Maxrss
	}
	return usage.Maxrss << 10 // others count in KiB
}
