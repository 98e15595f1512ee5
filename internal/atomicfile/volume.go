package atomicfile

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/git-jp/git-jp/internal/regular"
)

// A Volume is a file system that can make everything written to it durable at once. That costs less
// than syncing many files one by one, but also waits for writes of other programs.
//
// Each sync is a long wait, so one serves everything that was done before it. The rule for those
// who share a volume: sync before something gets its name, not after. Then whatever has a name has
// its bytes on the disk, and the names of what it refers to, which was published before it, even if
// the system writes a later name first; so any moment may be the last. What was published last may
// be lost until [Volume.Settle] was called, and nobody is told of it before that.
type Volume struct {
	// Hook, if not nil, is called before each sync. An error fails the sync. For tests.
	Hook func(step Step, name string) error

	dir *os.File

	begun atomic.Int64 // how many syncs

	mu   sync.Mutex // held during a sync; guards the following
	done int64      // how many syncs had begun when the last one that succeeded did
	err  error      // of the first sync that failed, since the system reports each failure once
}

// A Mark is a moment in the life of a volume: how many syncs had begun before it.
type Mark int64

// OpenVolume returns the volume of a directory, nil if files must be synced one by one. It must be
// called before the files are written: Sync reports only later failures.
func OpenVolume(root *os.Root) *Volume {
	if dir := openVolume(root); dir != nil {
		return &Volume{dir: dir}
	}
	return nil
}

func (v *Volume) sync() {
	if v.err != nil {
		return
	}
	begun := v.begun.Add(1)
	if v.Hook != nil {
		v.err = v.Hook(StepSyncVolume, ".")
	}
	if v.err == nil {
		v.err = syncVolume(v.dir)
	}
	if v.err != nil {
		v.err = fmt.Errorf("sync what was written: %w", v.err)
		return
	}
	v.done = begun
}

// Mark returns the present moment. The volume may be nil, as for [Volume.Settle].
func (v *Volume) Mark() Mark {
	if v == nil {
		return 0
	}
	return Mark(v.begun.Load())
}

// Settle makes durable what was done before a moment, unless a sync that began after it has. It
// does nothing if files are synced one by one. Once it has failed, it always fails: what is
// lost is not known.
func (v *Volume) Settle(since Mark) error {
	if v == nil {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.done <= int64(since) {
		v.sync()
	}
	return v.err
}

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
