package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/git-jp/git-jp/internal/regular"
)

// ErrChanged says that a file is not, or no longer, the one that was to be replaced.
var ErrChanged = errors.New("somebody else has just changed the file")

// Replace is [Write] for whoever read the file before: data takes the place of old, of no file
// where old is nil. Whatever else the name means by then stays, and the error is [ErrChanged]: so
// nothing is overwritten that a program wrote which takes no lock, an editor or git checkout. A
// file that is gone can lose nothing; it is made. A link in its place is not replaced.
//
// On Linux and macOS the two files change places in one step, and what was replaced is looked at
// afterwards: there is no moment in which a change goes unseen. On Linux that holds also for a
// program that has the file open for writing. Elsewhere, and on file systems that cannot do that,
// the file is read right before it is replaced.
//
// Replacing what somebody changed in that very step puts it back. A process that is killed before
// it did leaves it as its temporary.
func Replace(root *os.Root, name string, old, data []byte, opts Options) error {
	w := writer{root: root, opts: opts}
	err := w.write(name, data, func(t *temp) error { return t.replace(name, old) })
	if err != nil {
		return fmt.Errorf("write %q: %w", name, err)
	}
	return nil
}

// ReplaceIn is [Replace] below a directory, which it opens and closes.
func ReplaceIn(dir, name string, old, data []byte, opts Options) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	return errors.Join(Replace(root, name, old, data, opts), root.Close())
}

// replace gives the temporary the name of what holds old.
func (t *temp) replace(name string, old []byte) error {
	w := t.w
	info, err := w.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return t.claim(name)
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return &fs.PathError{Op: "replace", Path: name, Err: regular.ErrNot}
	case old == nil || info.Size() != int64(len(old)):
		return ErrChanged
	}
	if t.placed, err = w.root.Lstat(t.name); err != nil {
		return err
	}
	defer w.alone()()
	err = t.swap(name)
	if errors.Is(err, errors.ErrUnsupported) {
		return t.replaceUnseen(name, old)
	}
	if err != nil {
		return err
	}
	if err := w.untouched(t.name, old); err != nil {
		return errors.Join(err, t.putBack(name))
	}
	_ = w.root.Remove(t.name) // what was replaced; the new file is in its place
	return nil
}

func (t *temp) swap(name string) error {
	if err := t.w.step(StepRename, name); err != nil {
		return err
	}
	return swap(t.w.root, t.name, name)
}

// replaceUnseen is for systems that do not show what was replaced.
func (t *temp) replaceUnseen(name string, old []byte) error {
	if err := t.w.untouched(name, old); err != nil {
		return err
	}
	return t.w.root.Rename(t.name, name)
}

// claim gives the temporary a name that nothing has. A second name for it fails where renaming
// would replace.
func (t *temp) claim(name string) error {
	w := t.w
	if err := w.step(StepRename, name); err != nil {
		return err
	}
	err := w.root.Link(t.name, name)
	switch {
	case err == nil:
		_ = w.root.Remove(t.name)
		return nil
	case errors.Is(err, fs.ErrExist):
		return ErrChanged
	case errors.Is(err, fs.ErrNotExist):
		return err
	}
	// Not every file system has links.
	if _, err := w.root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(ErrChanged, err)
	}
	return w.root.Rename(t.name, name)
}

// putBack gives what was replaced its name again. Where somebody put one more file there meanwhile,
// that one has come in return, and is the one that stays.
func (t *temp) putBack(name string) (err error) {
	for range attempts {
		theirs, lost := t.w.root.Lstat(t.name)
		if err = errors.Join(lost, t.swap(name)); errors.Is(err, fs.ErrNotExist) {
			err = t.claim(name)
		}
		if err != nil || t.isLeft() {
			break
		}
		t.placed = theirs
	}
	if !t.isLeft() {
		err = errors.Join(err, fmt.Errorf("what somebody else wrote is %s now", t.name))
	}
	return err
}

// isLeft reports that the name of the temporary means nothing, or what was taken from the place
// where it had been put: nobody else's only copy.
func (t *temp) isLeft() bool {
	if t.placed == nil {
		return true
	}
	info, err := t.w.root.Lstat(t.name)
	return errors.Is(err, fs.ErrNotExist) || err == nil && os.SameFile(info, t.placed)
}

// untouched returns [ErrChanged] unless a file has exactly the given bytes and nobody has it open
// for writing. Its time and size would not tell: another program can write as fast as the clock of
// the file system ticks.
func (w writer) untouched(name string, want []byte) (err error) {
	info, err := w.root.Lstat(name)
	switch {
	case err != nil:
		return errors.Join(ErrChanged, err)
	case !info.Mode().IsRegular() || info.Size() != int64(len(want)):
		return ErrChanged
	}
	f, err := regular.OpenIn(w.root, name)
	if err != nil {
		return errors.Join(ErrChanged, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// This comes first: who has it open later would have opened the new file.
	if isWritten(f) {
		return ErrChanged
	}
	return holds(f, want)
}

// holds returns [ErrChanged] unless r has exactly the given bytes.
func holds(r io.Reader, want []byte) error {
	piece := make([]byte, min(len(want)+1, 128<<10))
	for {
		n, err := r.Read(piece)
		if n > len(want) || !bytes.Equal(piece[:n], want[:n]) {
			return ErrChanged
		}
		want = want[n:]
		switch {
		case errors.Is(err, io.EOF) && len(want) == 0:
			return nil
		case errors.Is(err, io.EOF):
			return ErrChanged
		case err != nil:
			return err
		}
	}
}
