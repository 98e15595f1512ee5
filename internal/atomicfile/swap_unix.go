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

// swap lets two names change the files that they mean, in one step.
func swap(root *os.Root, a, b string) error { return renameAs(root, a, b, exchanging) }

// renameNew renames a file to a name that nothing has, else the error is [fs.ErrExist].
func renameNew(root *os.Root, a, b string) error { return renameAs(root, a, b, refusing) }

// alone keeps other processes of ours from exchanging files until done is called: each would take
// the other's new file for a change by a stranger and undo it. Without the lock, on file systems
// that have none or if another program keeps it, the exchange goes on; each is still checked.
func (w writer) alone() (done func()) {
	dir, err := w.openDir(w.opts.TempDir)
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
	w := writer{root: root}
	aDir, err := w.openDir(path.Dir(a))
	if err != nil {
		return err
	}
	defer aDir.Close() //nolint:errcheck // nothing is written through it
	bDir := aDir
	if path.Dir(b) != path.Dir(a) {
		if bDir, err = w.openDir(path.Dir(b)); err != nil {
			return err
		}
		defer bDir.Close() //nolint:errcheck // as above
	}
	err = f(int(aDir.Fd()), path.Base(a), int(bDir.Fd()), path.Base(b))
	if err != nil {
		return &os.LinkError{Op: "rename", Old: a, New: b, Err: err}
	}
	return nil
}
