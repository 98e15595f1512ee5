//go:build linux || darwin

package atomicfile

import (
	"os"
	"path"
	"time"

	"golang.org/x/sys/unix"
)

// How long other processes of ours are waited for: longer than a comparison takes.
const (
	turnAttempts = 200
	turnWait     = 5 * time.Millisecond
)

// alone keeps other processes of ours from exchanging files until done is called: each would take
// the other's new file for a change by a stranger and undo it. Without the lock, on file systems
// that have none or if another program keeps it, the exchange goes on; each is still checked.
func (w writer) alone() (done func()) {
	dir, err := w.root.Open(w.opts.TempDir)
	if err != nil {
		return func() {}
	}
	for range turnAttempts {
		if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != unix.EWOULDBLOCK {
			break
		}
		time.Sleep(turnWait)
	}
	return func() { _ = dir.Close() }
}

// inDirectories calls f with the open directories of two names below root and with what the names
// are in them.
func inDirectories(
	root *os.Root, a, b string, f func(aDir int, a string, bDir int, b string) error,
) error {
	aDir, err := root.Open(path.Dir(a))
	if err != nil {
		return err
	}
	defer aDir.Close() //nolint:errcheck // nothing is written through it
	bDir, err := root.Open(path.Dir(b))
	if err != nil {
		return err
	}
	defer bDir.Close() //nolint:errcheck // as above
	err = f(int(aDir.Fd()), path.Base(a), int(bDir.Fd()), path.Base(b))
	if err != nil {
		return &os.LinkError{Op: "rename", Old: a, New: b, Err: err}
	}
	return nil
}
