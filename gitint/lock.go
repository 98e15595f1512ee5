package gitint

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-jp/git-jp/internal/regular"
)

const (
	// DefaultLockTimeout is the default time that a write waits for a lock.
	DefaultLockTimeout = 5 * time.Second

	// NoWait as a LockTimeout makes a held lock an error at once.
	NoWait time.Duration = -1
)

const (
	lockSuffix = ".lock"
	lockPoll   = 20 * time.Millisecond
	lockMark   = "git-jp " // content of this program's locks, before the process id
)

// A LockedError reports that another process holds a lock of git.
type LockedError struct {
	// Path is the lock file.
	Path string
	// Holder names the process, "" if unknown. It may be gone: the lock of a killed git remains.
	Holder string
	// Since is when the lock was taken, zero if it is gone by now.
	Since time.Time
}

// Error names the lock and, if known, its holder.
func (e *LockedError) Error() string {
	switch {
	case e.Holder != "":
		return fmt.Sprintf("%s is held by %s", e.Path, e.Holder)
	case !e.Since.IsZero():
		return fmt.Sprintf("%s is held since %s by a process that cannot be found",
			e.Path, e.Since.Format(time.DateTime))
	default:
		return e.Path + " is held"
	}
}

// A fileLock is a lock of git that this process holds. It keeps the lock file open and flocked, so
// that others can see when the process has ended.
type fileLock struct {
	path string
	file *os.File
}

// release removes the lock before the kernel releases the flock: in the other order it could be
// taken for a stale lock.
func (l *fileLock) release() {
	_ = os.Remove(l.path)
	_ = l.file.Close()
}

// lockFile locks a file as git does, by creating <file>.lock. It waits up to timeout, and then
// returns a *LockedError.
func (r *Repo) lockFile(
	ctx context.Context, file string, timeout time.Duration,
) (*fileLock, error) {
	lock := file + lockSuffix
	expired, stop := context.WithTimeout(ctx, max(timeout, 0))
	defer stop()
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for {
		held, err := createLock(lock)
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return held, err
		}
		if breakLock(lock) {
			continue
		}
		select {
		case <-tick.C:
		case <-expired.Done():
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, r.locked(lock)
		}
	}
}

// createLock takes a lock if it is free, else the error is fs.ErrExist. The file has its owner
// before it gets the name of the lock: otherwise a process that is killed in between would leave a
// lock without an owner, as git does.
func createLock(lock string) (*fileLock, error) {
	dir, name := filepath.Split(lock)
	temp := strings.TrimSuffix(name, lockSuffix) + workSuffix + "*" + lockSuffix
	f, err := os.CreateTemp(dir, temp)
	if err != nil {
		return nil, err
	}
	l := &fileLock{lock, f}
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
	return createPlainLock(lock)
}

// createPlainLock is for file systems without hard links.
func createPlainLock(lock string) (*fileLock, error) {
	f, err := os.OpenFile(lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666) //nolint:gosec // as git
	if err != nil {
		return nil, err
	}
	l := &fileLock{lock, f}
	if err := l.sign(); err != nil {
		l.release()
		return nil, err
	}
	return l, nil
}

// sign writes the owner of the lock. The mark is written last: a file that has it without an flock
// is stale.
func (l *fileLock) sign() error {
	flock(l.file)
	_, err := fmt.Fprintf(l.file, "%s%d\n", lockMark, os.Getpid())
	return err
}

// breakLock removes a stale lock of this program, and reports whether it did. It keeps locks of
// other programs: whether their owner lives is unknown.
func breakLock(lock string) bool {
	f, err := regular.OpenFile(lock)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // nothing was written
	mark := make([]byte, len(lockMark))
	if _, err := io.ReadFull(f, mark); err != nil || string(mark) != lockMark || !flock(f) {
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

// waitFor returns the timeout of a call, or else that of the repository.
func (r *Repo) waitFor(timeout time.Duration) time.Duration {
	timeout = cmp.Or(timeout, r.lockTimeout, DefaultLockTimeout)
	return timeout
}

// configLock returns a description of the lock of the repository's configuration, nil if it is
// free.
func (r *Repo) configLock() error {
	lock := filepath.Join(r.commonDir, "config"+lockSuffix)
	if _, err := os.Lstat(lock); err == nil {
		return r.locked(lock)
	}
	return nil
}

func (r *Repo) locked(lock string) *LockedError {
	e := &LockedError{Path: lock}
	if fi, err := os.Lstat(lock); err == nil {
		e.Since = fi.ModTime()
	}
	if text, err := regular.ReadFile(lock, regular.MaxNote); err == nil {
		if pid, ok := bytes.CutPrefix(text, []byte(lockMark)); ok {
			e.Holder = "git-jp, process " + string(bytes.TrimSpace(pid))
			return e
		}
	}
	e.Holder = r.findHolder(lock)
	return e
}

// findHolder searches /proc, if it exists, for the process that has the lock open, or else for a
// git at work in this repository: git closes the file and keeps the lock while an editor or a hook
// runs.
func (r *Repo) findHolder(lock string) string {
	procs, err := os.ReadDir("/proc")
	if err != nil {
		return ""
	}
	guess := ""
	for _, p := range procs {
		if _, err := strconv.Atoi(p.Name()); err != nil {
			continue
		}
		dir := filepath.Join("/proc", p.Name())
		if hasOpen(dir, lock) {
			return describeProcess(dir, p.Name())
		}
		if guess == "" && r.isGitHere(dir) {
			guess = describeProcess(dir, p.Name())
		}
	}
	return guess
}

func hasOpen(proc, file string) bool {
	fds, err := os.ReadDir(filepath.Join(proc, "fd"))
	if err != nil {
		return false
	}
	for _, fd := range fds {
		target, err := os.Readlink(filepath.Join(proc, "fd", fd.Name()))
		if err == nil && target == file {
			return true
		}
	}
	return false
}

func (r *Repo) isGitHere(proc string) bool {
	name, err := os.ReadFile(filepath.Join(proc, "comm"))
	if err != nil || strings.TrimSpace(string(name)) != "git" {
		return false
	}
	cwd, err := os.Readlink(filepath.Join(proc, "cwd"))
	here := err == nil && (within(cwd, r.root) || within(cwd, r.gitDir))
	return here && !isOurCaller(proc)
}

// isOurCaller reports whether a git only waits for this program, in this or in another run, as in
// 'git jp stage'.
func isOurCaller(proc string) bool { return slices.Contains(arguments(proc), "jp") }

func arguments(proc string) []string {
	text, err := os.ReadFile(filepath.Join(proc, "cmdline"))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
}

func within(name, dir string) bool {
	return dir != "" && (name == dir || strings.HasPrefix(name, dir+string(filepath.Separator)))
}

// describeProcess names the command and its subcommand only; other arguments may be private.
func describeProcess(proc, pid string) string {
	args := arguments(proc)
	if len(args) == 0 {
		return "process " + pid
	}
	name := filepath.Base(args[0])
	if len(args) > 1 && !strings.HasPrefix(args[1], "-") {
		name += " " + args[1]
	}
	return fmt.Sprintf("%q, process %s", name, pid)
}
