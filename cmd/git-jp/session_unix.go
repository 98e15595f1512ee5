//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// sessionID returns the id of the terminal session, by which jp distinguishes terminals.
func sessionID() (int, error) {
	return unix.Getsid(0)
}

// leader returns the age of the process that leads a terminal session, 0 if the system does not
// show it, and whether there is one.
func leader(pid int) (age time.Duration, alive bool) {
	if errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		return 0, false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	up, upErr := os.ReadFile("/proc/uptime")
	if errors.Join(err, upErr) != nil {
		return 0, true
	}
	// The name of the program is in parentheses and may have any character. Of the fields behind
	// it the 20th is when the process began, in hundredths of a second since the system did.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	var now, began float64
	if len(fields) < 20 {
		return 0, true
	}
	_, err = fmt.Sscan(string(up), &now)
	_, err2 := fmt.Sscan(string(fields[19]), &began)
	if errors.Join(err, err2) != nil {
		return 0, true
	}
	return max(time.Duration((now-began/100)*float64(time.Second)), 1), true
}
