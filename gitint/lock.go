package gitint

import (
	"cmp"
	"os"
	"path/filepath"
	"time"

	"github.com/git-jp/git-jp/gitint/internal/gitlock"
)

const (
	// DefaultLockTimeout is the default time that a write waits for a lock.
	DefaultLockTimeout = 5 * time.Second

	// NoWait as a LockTimeout makes a held lock an error at once.
	NoWait time.Duration = -1
)

// A LockedError reports that another process holds a lock of git.
type LockedError = gitlock.HeldError

// waitFor returns the timeout of a call, or else that of the repository.
func (r *Repo) waitFor(timeout time.Duration) time.Duration {
	return cmp.Or(timeout, r.lockTimeout, DefaultLockTimeout)
}

// configLock returns a description of the lock of the repository's configuration, nil if it is
// free.
func (r *Repo) configLock() error {
	lock := filepath.Join(r.commonDir, "config"+gitlock.Suffix)
	if _, err := os.Lstat(lock); err == nil {
		return r.locked(lock)
	}
	return nil
}

func (r *Repo) locked(lock string) *LockedError { return gitlock.Held(lock, r.root, r.gitDir) }
