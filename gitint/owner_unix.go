//go:build unix

package gitint

import (
	"os"
	"slices"
	"strconv"
	"syscall"
)

// owned reports whether a file is the user's; for the superuser also that of who became it by
// sudo. What is not there is nobody's.
func owned(name string, env []string) bool {
	info, err := os.Lstat(name)
	if err != nil {
		return os.IsNotExist(err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	user := os.Geteuid()
	return int64(stat.Uid) == int64(user) || user == 0 &&
		slices.Contains(env, "SUDO_UID="+strconv.FormatUint(uint64(stat.Uid), 10))
}
