package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// ageOf returns the age of a process, 0 if it is not known.
func ageOf(pid int) time.Duration {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	// The name of the program is in parentheses and may have any character. Of the fields behind
	// it the 20th is when the process began, in hundredths of a second since the system did.
	// /proc/uptime may be that of a container, as LXC gives it, so the clock is asked.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	var now unix.Timespec
	var began int64
	if len(fields) < 20 || unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return 0
	}
	if _, err := fmt.Sscan(string(fields[19]), &began); err != nil {
		return 0
	}
	return max(time.Duration(now.Nano())-time.Duration(began)*(time.Second/100), 1)
}
