package refs

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// keptUnwritten is how long the files of another version stay after their last change. A program of
// that version that is still in use beside this one, as in an editor's container, loses at most
// what it knew, once in that time.
const keptUnwritten = 30 * 24 * time.Hour

// RemoveOthers removes the files in a directory of caches whose names have the prefix of a family,
// and that are not of the current version: nothing else ever would. now is a file that was just
// written, so that ages are compared by the clock of the file system. Like everything about a cache
// it may fail, which costs space.
func RemoveOthers(dir, family, current, now string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	var before time.Time
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, family) || strings.HasPrefix(name, current) ||
			!e.Type().IsRegular() {
			continue
		}
		if before.IsZero() {
			written, err := os.Lstat(filepath.Join(dir, now))
			if err != nil {
				return
			}
			before = written.ModTime().Add(-keptUnwritten)
		}
		if info, err := e.Info(); err == nil && info.ModTime().Before(before) {
			_ = os.Remove(filepath.Join(dir, name))
		}
	}
}
