package atomicfile

import (
	"os"

	"github.com/git-jp/git-jp/internal/regular"
)

// A Volume is a file system that can make everything written to it durable at once. That costs less
// than syncing many files one by one, but also waits for writes of other programs.
type Volume struct{ dir *os.File }

// OpenVolume returns the volume of a directory, nil if files must be synced one by one. It must be
// called before the files are written: Sync reports only later failures.
func OpenVolume(root *os.Root) *Volume {
	if dir := openVolume(root); dir != nil {
		return &Volume{dir}
	}
	return nil
}

// Sync makes everything durable.
func (v *Volume) Sync() error { return syncVolume(v.dir) }

// Close releases the volume, which may be nil.
func (v *Volume) Close() error {
	if v == nil {
		return nil
	}
	return v.dir.Close()
}

// OpenDir creates a directory below root, and the directory for temporaries in it, durably unless
// they exist, and opens it. Later steps resolve their paths from there.
func OpenDir(root *os.Root, dir string, opts Options) (*os.Root, error) {
	w := writer{root: root, opts: opts}
	if _, err := root.Lstat(opts.TempDir); err != nil {
		if err := w.mkdirAllSync(opts.TempDir); err != nil {
			return nil, err
		}
	}
	return regular.OpenRootIn(root, dir)
}
