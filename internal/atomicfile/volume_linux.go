package atomicfile

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// durable lists the file systems on which syncfs is known to make files as durable as fsync of each
// would. Others, especially those in user space, may do less, and are synced file by file.
var durable = []uint32{
	unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC,
	unix.TMPFS_MAGIC,
}

// openVolume opens the directory of root for [syncVolume]. It returns nil if the system cannot sync
// a file system and report failures, as Linux does since 5.8. It must be called before the writes:
// only later failures are reported.
func openVolume(root *os.Root) *os.File {
	if !reportsFailures() {
		return nil
	}
	dir, err := root.Open(".")
	if err != nil {
		return nil
	}
	if isDurable(dir) {
		return dir
	}
	dir.Close() //nolint:errcheck // nothing was written
	return nil
}

// isDurable reports whether a file is on a file system that is known to keep what is synced.
func isDurable(f *os.File) bool {
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	var stat unix.Statfs_t
	_ = conn.Control(func(fd uintptr) { err = unix.Fstatfs(int(fd), &stat) })
	return err == nil && slices.Contains(durable, uint32(stat.Type))
}

// reportsFailures reports whether syncfs returns write errors.
func reportsFailures() bool {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return false
	}
	major, rest, _ := strings.Cut(unix.ByteSliceToString(name.Release[:]), ".")
	minor, _, _ := strings.Cut(rest, ".")
	m, err := strconv.Atoi(major)
	n, minorErr := strconv.Atoi(minor)
	return err == nil && (m > 5 || m == 5 && minorErr == nil && n >= 8)
}

func syncVolume(dir *os.File) error { return unix.Syncfs(int(dir.Fd())) }
