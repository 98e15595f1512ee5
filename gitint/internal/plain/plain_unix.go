//go:build unix

package plain

import (
	"os"
	"syscall"
)

// deviceOf returns the file system on which a directory is.
func deviceOf(dir string) (device uint64, ok bool) {
	info, err := os.Stat(dir)
	if err != nil {
		return 0, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return uint64(stat.Dev), true //nolint:unconvert // it is compared, and signed elsewhere
}

// searchable reports whether the user has search permission for a directory, as git checks it.
func searchable(dir string) bool {
	const search = 1
	return syscall.Access(dir, search) == nil
}
