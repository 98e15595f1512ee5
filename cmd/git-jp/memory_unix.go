//go:build linux || darwin

package main

import (
	"math"
	"syscall"
)

// addressSpace returns how many bytes of address space the process may have.
func addressSpace() int64 {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit)
	if err != nil || limit.Cur > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(limit.Cur) // fits, see above
}
