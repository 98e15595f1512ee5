//go:build unix

package regular

import (
	"io/fs"
	"syscall"
)

// Links returns the number of a file's names, 1 if unknown.
func Links(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink) // its type differs by system
	}
	return 1
}

// Owner returns the id of the user who owns a file, or -1 if it cannot be determined.
func Owner(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}
