//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
)

// giveGroup gives a file the group of a directory.
func giveGroup(name string, file, dir fs.FileInfo) error {
	has, ok := file.Sys().(*syscall.Stat_t)
	wants, known := dir.Sys().(*syscall.Stat_t)
	if !ok || !known || has.Gid == wants.Gid {
		return nil
	}
	return os.Lchown(name, -1, int(wants.Gid))
}
