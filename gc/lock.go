package gc

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/filelock"
)

const (
	// lockWait is how long a collection waits for another one: a process that only checks for an
	// open run holds the lock for an instant.
	lockWait = 200 * time.Millisecond
	lockPoll = 10 * time.Millisecond
)

// lock excludes other collections in all working trees. The kernel releases it when the process
// ends, however it ends.
func (o *Options) lock(ctx context.Context, p place) (unlock func(), err error) {
	if err := o.mkdir(filepath.Dir(p.lockFile)); err != nil {
		return nil, err
	}
	f, err := atomicfile.OpenPrivate(p.lockFile, os.O_RDWR)
	if err != nil {
		return nil, err
	}
	wait := lockWait
	if o.NoWait {
		wait = 0
	}
	expired := time.NewTimer(wait)
	defer expired.Stop()
	for {
		held, err := filelock.Try(f)
		if held && err == nil {
			return func() { _, _ = filelock.Unlock(f), f.Close() }, nil
		}
		if err != nil {
			_ = f.Close() // nothing was written
			return nil, err
		}
		select {
		case <-time.After(lockPoll):
		case <-ctx.Done():
			_ = f.Close() // as above
			return nil, ctx.Err()
		case <-expired.C:
			_ = f.Close() // as above
			return nil, &BusyError{Path: p.lockFile}
		}
	}
}
