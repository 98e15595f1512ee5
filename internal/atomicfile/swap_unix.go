//go:build linux || darwin

package atomicfile

import (
	"os"
	"path"
	"time"

	"github.com/git-jp/git-jp/internal/filelock"
)

// How long to wait for other processes of this program: longer than a comparison takes.
const (
	turnAttempts = 200
	turnWait     = 5 * time.Millisecond
)

// exchange swaps the files of two names in one step.
func (w writer) exchange(a, b string) error { return w.renameAs(a, b, exchanging) }

// renameNew renames a file to an unused name. If the name exists, the error is [fs.ErrExist].
func (w writer) renameNew(a, b string) error { return w.renameAs(a, b, refusing) }

// hold keeps a directory open for all further steps. If it cannot be opened, each step tries again.
func (t *temp) hold(dir string) {
	if d, _, err := t.w.openDir(dir); err == nil {
		t.w.held = append(t.w.held, heldDir{dir, d})
	}
}

// alone keeps other processes of this program from exchanging files until done is called: each
// would take the other's new file for another program's change and undo it. Without the lock, on
// file systems that have none or if another program keeps it, the exchange proceeds; each is
// verified anyway.
func (w writer) alone() (done func()) {
	dir, closed, err := w.openDir(w.opts.TempDir)
	if err != nil {
		return func() {}
	}
	for range turnAttempts {
		if held, err := filelock.Try(dir); held || err != nil {
			break
		}
		time.Sleep(turnWait)
	}
	return func() {
		_ = filelock.Unlock(dir)
		_ = closed()
	}
}

// inDirectories calls f with the open directories of two names below root and with what the names
// are in them.
func (w writer) inDirectories(
	a, b string, f func(aDir int, a string, bDir int, b string) error,
) error {
	aDir, done, err := w.openDir(path.Dir(a))
	if err != nil {
		return err
	}
	defer done() //nolint:errcheck // nothing is written through it
	bDir, done, err := w.openDir(path.Dir(b))
	if err != nil {
		return err
	}
	defer done() //nolint:errcheck // as above
	err = f(int(aDir.Fd()), path.Base(a), int(bDir.Fd()), path.Base(b))
	if err != nil {
		return &os.LinkError{Op: "rename", Old: a, New: b, Err: err}
	}
	return nil
}
