//go:build unix

package regular

import (
	"io/fs"
	"syscall"
)

// Links returns the number of a file's names, 1 if unknown.
func Links(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink) //nolint:unconvert // its type differs by system
	}
	return 1
}

// Owner returns the number of the user to whom a file belongs, -1 where that cannot be told.
func Owner(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}
