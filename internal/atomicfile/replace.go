package atomicfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

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
// What somebody changed in that very step is put back. Where they change the file once more before
// that, both versions stay, one of them beside the file, and the error is an [*AsideError]. A
// process that is killed in between leaves what they wrote as its temporary, whose name begins with
// [Marked]. Of a file that belongs to another user the system does not say whether it is open.
func Replace(root *os.Root, name string, old, data []byte, opts Options) error {
	w := writer{root: root, opts: opts}
	err := w.write(name, data, func(t *temp) error { return t.replace(name, old, data) })
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

// Remove removes a file that still holds old. What it is otherwise by then stays, and the error is
// that of [Replace].
func Remove(root *os.Root, name string, old []byte, opts Options) error {
	if err := (writer{root: root, opts: opts}).removeAs(name, old); err != nil {
		return fmt.Errorf("remove %q: %w", name, err)
	}
	return nil
}

// RemoveIn is [Remove] below a directory, which it opens and closes.
func RemoveIn(dir, name string, old []byte, opts Options) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	return errors.Join(Remove(root, name, old, opts), root.Close())
}

// removeAs takes the file out of its place before it looks at it.
func (w writer) removeAs(name string, old []byte) error {
	if err := w.untouched(name, old); err != nil {
		return err
	}
	at, err := w.reserve(name)
	if err != nil {
		return err
	}
	t := temp{w: w, name: at}
	if err := w.renamed(name, t.name); err != nil {
		_ = w.root.Remove(t.name)
		return err
	}
	if w.untouched(t.name, old) != nil {
		return t.keepBeside(name, name)
	}
	return w.root.Remove(t.name)
}

// replace gives the temporary, which holds data, the name of what holds old.
func (t *temp) replace(name string, old, data []byte) error {
	w := t.w
	info, err := w.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if old != nil && w.opts.Gone != nil {
			if err := w.opts.Gone(); err != nil {
				return err
			}
		}
		return t.claim(name)
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return &fs.PathError{Op: "replace", Path: name, Err: regular.ErrNot}
	case old == nil || info.Size() != int64(len(old)):
		return ErrChanged
	}
	if err := t.mark(); err != nil {
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
	if w.untouched(t.name, old) == nil {
		_ = w.root.Remove(t.name) // what was replaced; the new file is in its place
		return nil
	}
	return t.putBack(name, data)
}

// Marked begins the names of temporaries that can be the only copy of what somebody else wrote,
// after a process was killed: nobody removes them.
const Marked = "~"

// mark notes what the temporary is, before its name can mean another file.
func (t *temp) mark() (err error) {
	if t.made != nil {
		return nil
	}
	if t.made, err = t.w.root.Lstat(t.name); err != nil {
		return err
	}
	name, err := t.w.reserve(t.target)
	if err == nil {
		err = t.w.root.Rename(t.name, name)
	}
	if err == nil {
		t.name = name
	}
	return err
}

// reserve makes an empty temporary of a marked name. Renaming replaces, and the name may be that of
// a file which a killed process left.
func (w writer) reserve(target string) (string, error) {
	return w.unique(Marked+path.Base(target), func(name string) error {
		f, err := w.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, privatePerm)
		if err != nil {
			return err
		}
		return f.Close()
	})
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

// putBack gives what was replaced its name again, and returns [ErrChanged]. Where somebody wrote
// into the new file or over it meanwhile, that stays, as the later of any two writes does; what was
// there before is put beside it.
func (t *temp) putBack(name string, data []byte) error {
	theirs, err := t.w.root.Lstat(t.name)
	if err == nil {
		err = t.swap(name)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist): // the new file is gone, and maybe its directory
		return t.keepBeside(name, name)
	case err != nil:
		return errors.Join(t.keepBeside(name, ""), err)
	case t.isMade() && t.w.untouched(t.name, data) == nil:
		return ErrChanged
	}
	if t.swap(name) == nil {
		if now, err := t.w.root.Lstat(t.name); err == nil && !os.SameFile(now, theirs) {
			_ = t.swap(name) // one more came
		}
	}
	return t.keepBeside(name, "")
}

// An AsideError says that two programs changed a file at once, and where one of both versions is.
type AsideError struct{ Path, Aside string }

// Error names both.
func (e *AsideError) Error() string {
	return fmt.Sprintf("others wrote %q twice meanwhile: one of the two is %q now", e.Path, e.Aside)
}

// keepBeside gives what somebody else wrote the name first, if it is free, or else its own name
// with the beginning of its hash. If that fails it stays where it is. The error says so.
func (t *temp) keepBeside(name, first string) error {
	for _, to := range []string{first, name + t.suffix()} {
		if to == "" {
			continue
		}
		_, err := t.w.place(to, func() error { return t.claim(to) })
		switch {
		case err == nil && to == first:
			return ErrChanged
		case err == nil:
			return &AsideError{name, to}
		}
	}
	return &AsideError{name, t.name}
}

// suffix is of the hash of what the temporary holds, or of its name where it is no file.
func (t *temp) suffix() string {
	h := sha256.New()
	f, err := regular.OpenIn(t.w.root, t.name)
	if err == nil {
		_, err = io.Copy(h, f)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		_, _ = io.WriteString(h, t.name)
	}
	return Marked + hex.EncodeToString(h.Sum(nil)[:6])
}

// isMade reports whether the name of the temporary means the file that was made for it.
func (t *temp) isMade() bool {
	if t.made == nil {
		return true
	}
	info, err := t.w.root.Lstat(t.name)
	return err == nil && os.SameFile(info, t.made)
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
