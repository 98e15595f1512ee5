//go:build unix

package regular

import (
	"io/fs"
	"syscall"
)

// Links returns how many names a file has, 1 where that cannot be told.
func Links(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink) //nolint:unconvert // its type differs by system
	}
	return 1
}
