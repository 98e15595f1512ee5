package gitlock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-jp/git-jp/internal/filelock"
	"github.com/git-jp/git-jp/internal/regular"
)

// Suffix is added to the name of a file for that of its lock.
const Suffix = ".lock"

// WorkSuffix is added to the name of a locked file for those that its holder makes beside it. Who
// holds the lock may remove those that a killed process has left.
const WorkSuffix = ".jp-"

// mark is the content of this program's locks, before the process id.
const mark = "git-jp "

// A Lock is a lock of git that this process holds. It keeps the lock file open and flocked, so that
// others can see when the process has ended.
type Lock struct {
	path string
	file *os.File
}

// Release removes the lock before the kernel releases the flock: in the other order it could be
// taken for a stale lock.
func (l *Lock) Release() {
	_ = os.Remove(l.path)
	_ = l.file.Close()
}

// Take locks a file as git does, by creating <file>.lock. It waits up to timeout, and then returns
// a [*HeldError]; who holds the lock is also looked for in dirs, where git works.
func Take(ctx context.Context, file string, timeout time.Duration, dirs ...string) (*Lock, error) {
	lock := file + Suffix
	var held *Lock
	var err error
	if failed := Wait(ctx, timeout, func() bool {
		held, err = create(lock)
		for errors.Is(err, fs.ErrExist) && breakStale(lock) {
			held, err = create(lock)
		}
		return !errors.Is(err, fs.ErrExist)
	}); failed != nil {
		return nil, failed
	}
	if errors.Is(err, fs.ErrExist) {
		return nil, Held(lock, dirs...)
	}
	return held, err
}

// Wait calls f again and again until it returns true, or the time is over. The error is that of the
// context.
func Wait(ctx context.Context, timeout time.Duration, f func() bool) error {
	const pause = 20 * time.Millisecond
	expired, stop := context.WithTimeout(ctx, max(timeout, 0))
	defer stop()
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for !f() {
		select {
		case <-tick.C:
		case <-expired.Done():
			return ctx.Err()
		}
	}
	return nil
}

// create takes a lock if it is free, else the error is fs.ErrExist. The file has its owner
// before it gets the name of the lock: otherwise a process that is killed in between would leave a
// lock without an owner, as git does.
func create(lock string) (*Lock, error) {
	dir, name := filepath.Split(lock)
	temp := strings.TrimSuffix(name, Suffix) + WorkSuffix + "*" + Suffix
	f, err := os.CreateTemp(dir, temp)
	if err != nil {
		return nil, err
	}
	l := &Lock{lock, f}
	if err = l.sign(); err == nil {
		err = os.Link(f.Name(), lock)
	}
	_ = os.Remove(f.Name())
	if err == nil {
		return l, nil
	}
	_ = f.Close() // the lock is another file, or missing
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		// The holder of the lock removes leftovers, and may have removed this file.
		return nil, fs.ErrExist
	}
	return createPlain(lock)
}

// createPlain is for file systems without hard links.
func createPlain(lock string) (*Lock, error) {
	f, err := os.OpenFile(lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666) // as git
	if err != nil {
		return nil, err
	}
	l := &Lock{lock, f}
	if err := l.sign(); err != nil {
		l.Release()
		return nil, err
	}
	return l, nil
}

// sign writes the owner of the lock. The mark is written last: a file that has it without an flock
// is stale.
func (l *Lock) sign() error {
	_, _ = filelock.Try(l.file) // without it nobody breaks this lock
	_, err := fmt.Fprintf(l.file, "%s%d\n", mark, os.Getpid())
	return err
}

// breakStale removes a stale lock of this program, and reports whether it did. It keeps locks of
// other programs: whether their owner lives is unknown.
func breakStale(lock string) bool {
	f, err := regular.OpenFile(lock)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // nothing was written
	if ours, err := isOurs(f); err != nil || !ours {
		return false
	}
	if free, err := filelock.Try(f); err != nil || !free {
		return false
	}
	// Between opening and locking it another process may have broken it, and a third taken the lock
	// again.
	is, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Lstat(lock)
	return err == nil && os.SameFile(is, now) && os.Remove(lock) == nil
}

// IsOurs reports whether a lock exists and is one of this program.
func IsOurs(lock string) (bool, error) {
	f, err := regular.OpenFile(lock)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close() //nolint:errcheck // was only read
	return isOurs(f)
}

func isOurs(f io.Reader) (bool, error) {
	begin := make([]byte, len(mark))
	_, err := io.ReadFull(f, begin)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return string(begin) == mark, err
}
