package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/filelock"
	"github.com/git-jp/git-jp/internal/regular"
)

// LocksDir is the directory of the locks, below .jp or in user-local storage.
const LocksDir = "locks"

const lockPoll = 50 * time.Millisecond // jp tries every half second

// lockContent is the content of a lock file. It informs people; the lock itself is the system's.
type lockContent struct {
	PID        int    `json:"pid"`
	Session    string `json:"session,omitempty"`
	AcquiredAt string `json:"acquired_at"`
}

// acquiredLayout is RFC 3339 with +00:00 where Go writes Z.
const acquiredLayout = "2006-01-02T15:04:05.999999999-07:00"

// Lock takes jp's lock of a conversation, which need not exist. If another process holds it, Lock
// waits for Settings.LockWait or until ctx is done, whichever comes first, and returns a
// [*LockedError]. unlock must be called once.
func (w *Workspace) Lock(ctx context.Context, id events.ID) (unlock func() error, err error) {
	ctx, cancel := context.WithTimeout(ctx, w.env.Settings.LockWait)
	defer cancel()
	for {
		unlock, err := w.tryLock(id)
		if _, ok := errors.AsType[*LockedError](err); !ok {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(err, canceled(ctx))
		case <-time.After(lockPoll):
		}
	}
}

// canceled returns why ctx is done, nil if its deadline has passed.
func canceled(ctx context.Context) error {
	if err := context.Cause(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// Locks returns the locked conversations, sorted by store and id. It changes nothing and does not
// wait, but takes each free lock for an instant.
func (w *Workspace) Locks() ([]*LockedError, error) {
	var all []*LockedError
	for _, s := range w.stores() {
		list, err := fs.ReadDir(s.fsys, LocksDir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("list locks: %w", err)
		}
		for _, d := range list {
			name, ok := strings.CutSuffix(d.Name(), ".lock")
			id, err := events.ParseID(name)
			if !ok || err != nil || !d.Type().IsRegular() || !s.isHeld(id) {
				continue
			}
			all = append(all, s.holder(id))
		}
	}
	return all, nil
}

// isHeld treats a lock that cannot be tested as held: then nothing is deleted.
func (s *store) isHeld(id events.ID) bool {
	f, err := regular.OpenIn(s.root, lockName(id))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	ok, err := filelock.Try(f)
	return errors.Join(err, f.Close()) != nil || !ok
}

func lockName(id events.ID) string { return LocksDir + "/" + id.String() + ".lock" }

// lockStore selects the store as jp does: user-local storage, if there is one, unless only the
// workspace has the lock file.
func (w *Workspace) lockStore(id events.ID) *store {
	if w.userLocal == nil {
		return w.main
	}
	_, there := w.userLocal.root.Lstat(lockName(id))
	if _, here := w.main.root.Lstat(lockName(id)); here == nil && there != nil {
		return w.main
	}
	return w.userLocal
}

func (w *Workspace) tryLock(id events.ID) (func() error, error) {
	s := w.lockStore(id)
	name := lockName(id)
	f, err := s.acquire(name)
	if err != nil {
		return nil, fmt.Errorf("lock conversation %s: %w", id, regular.Whole(s.root, err))
	}
	if f == nil {
		return nil, s.holder(id)
	}
	if err := w.sign(f); err != nil {
		return nil, fmt.Errorf("lock conversation %s: %w", id, errors.Join(err, s.release(f, name)))
	}
	return func() error { return s.release(f, name) }, nil
}

// acquire opens and locks the file called name; it returns nil if another process holds it. Since
// the file is removed when a lock is released, the locked file may no longer have its name: the
// lock counts only if it does.
func (s *store) acquire(name string) (*os.File, error) {
	for {
		f, err := s.openLock(name)
		if err != nil {
			return nil, err
		}
		ok, err := filelock.Try(f)
		if err != nil || !ok {
			return nil, errors.Join(err, f.Close())
		}
		same, err := s.isAt(f, name)
		if err == nil && same {
			return f, nil
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
	}
}

func (s *store) openLock(name string) (*os.File, error) {
	const how = os.O_CREATE | os.O_RDWR
	perm := atomicfile.FilePerm
	if s.local {
		perm = 0o600
	}
	if info, err := s.root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return nil, notRegular("lock", name)
	}
	f, err := s.root.OpenFile(name, how, perm)
	if errors.Is(err, fs.ErrNotExist) {
		if err := s.mkdir(LocksDir); err != nil {
			return nil, err
		}
		f, err = s.root.OpenFile(name, how, perm)
	}
	if err == nil { // in a directory that the doctor opened to the group
		err = atomicfile.Adopt(filepath.Join(s.dir, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			err = nil // jp, or its holder, removed it
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return f, err
}

// isAt reports whether name leads to f. A symlink there is an error: signing the lock would
// overwrite its target.
func (s *store) isAt(f *os.File, name string) (bool, error) {
	info, err := s.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, notRegular("lock", name)
	}
	held, err := f.Stat()
	return err == nil && os.SameFile(held, info), err
}

// sign writes this process into a lock that it holds.
func (w *Workspace) sign(f *os.File) error {
	content := lockContent{
		PID: w.env.pid(), AcquiredAt: w.env.Now().UTC().Format(acquiredLayout),
	}
	if s, ok := SessionOf(w.env); ok {
		content.Session = s.ID
	}
	data, err := json.Marshal(content)
	if err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	return err
}

// release gives a lock up. A file that cannot be removed stays, unlocked, which hinders nobody.
func (s *store) release(f *os.File, name string) error {
	if filelock.UnlinkWhileHeld {
		_ = s.root.Remove(name)
		return f.Close()
	}
	err := f.Close()
	_ = s.root.Remove(name) // fails if another process has opened it
	return err
}

// holder reads who holds the lock. It may have been released since.
func (s *store) holder(id events.ID) *LockedError {
	name := lockName(id)
	e := &LockedError{ID: id}
	f, err := regular.OpenIn(s.root, name)
	if err != nil {
		return e
	}
	data, readErr := io.ReadAll(io.LimitReader(f, 4096))
	closeErr := f.Close()
	var content lockContent
	if errors.Join(readErr, closeErr, json.Unmarshal(data, &content)) != nil {
		return e
	}
	e.PID, e.Session = content.PID, content.Session
	if at, err := time.Parse(time.RFC3339Nano, content.AcquiredAt); err == nil {
		e.Since = at
	}
	return e
}
