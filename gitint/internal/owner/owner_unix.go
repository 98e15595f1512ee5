//go:build unix

package owner

import (
	"os"
	"slices"
	"strconv"
	"syscall"
)

// Owns reports whether a file belongs to the user; for the superuser also whether it belongs to
// the user who ran sudo. A missing file belongs to none.
func Owns(name string, env []string) bool {
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
