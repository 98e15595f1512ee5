//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// mostMemory returns a program's peak memory in bytes.
func mostMemory(ended *os.ProcessState) int64 {
	usage, ok := ended.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return inBytes(usage.Maxrss)
}

// ownMemory returns the peak memory of this process in bytes. The system counts it as that of each
// program that it starts.
func ownMemory() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return inBytes(usage.Maxrss)
}

func inBytes(maxrss int64) int64 {
	if runtime.GOOS == "darwin" {
		return maxrss
	}
	return maxrss << 10 // others count in KiB
}
