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
	"slices"
	"sync"

	"github.com/git-jp/git-jp/internal/regular"
)

// ErrChanged reports that a file does not have the content from which its replacement was made.
var ErrChanged = errors.New("the file was changed by another program")

// Replace is [Write] for a caller that has read the file: it replaces the content old with data. A
// nil old means a file that does not exist. If the file has any other content, it is not changed,
// and the error is [ErrChanged]: so a program that takes no lock, such as an editor or git
// checkout, is never overwritten. A file that was removed is written again. A symbolic link is
// never replaced.
//
// On Linux and macOS the old and the new file are exchanged in one step, and the old one is
// compared afterwards, so no change is missed. On Linux this includes programs that have the file
// open for writing, if it belongs to the user. Other systems, and file systems without exchange,
// compare the file right before they rename.
//
// A file that was changed in the meantime is exchanged back. If it is changed a second time before
// that, both versions are kept, the earlier one beside the file, and the error is an [*AsideError].
// A process that is killed between the two exchanges leaves the earlier version as a temporary
// whose name begins with [Marked].
func Replace(root *os.Root, name string, old, data []byte, opts Options) error {
	return ReplaceBy(root, name, Change{Old: old, Rest: data}, opts)
}

// A Change describes the content of a file before, Old (nil if there is no file), and after: the
// first Same bytes of Old, then Rest.
type Change struct {
	Old  []byte
	Same int
	Rest []byte
}

// ReplaceBy is [Replace] for files that grow: the new content need not be assembled in memory.
func ReplaceBy(root *os.Root, name string, c Change, opts Options) error {
	w := writer{root: root, opts: opts}
	data := content{c.Old[:c.Same], c.Rest}
	err := w.write(name, data, func(t *temp) error { return t.replace(name, c.Old, data) })
	if err != nil {
		return failed("write", root, name, err)
	}
	return nil
}

// ReplaceIn is [Replace] below a directory, which it opens and closes.
func ReplaceIn(dir, name string, old, data []byte, opts Options) error {
	root, err := regular.OpenRoot(dir)
	if err != nil {
		return err
	}
	return errors.Join(Replace(root, name, old, data, opts), root.Close())
}

// Remove removes a file that has the content old. It does not change a file with any other content,
// and returns the errors of [Replace].
func Remove(root *os.Root, name string, old []byte, opts Options) error {
	if err := (writer{root: root, opts: opts}).removeAs(name, old); err != nil {
		return failed("remove", root, name, err)
	}
	return nil
}

// RemoveIn is [Remove] below a directory, which it opens and closes.
func RemoveIn(dir, name string, old []byte, opts Options) error {
	root, err := regular.OpenRoot(dir)
	if err != nil {
		return err
	}
	return errors.Join(Remove(root, name, old, opts), root.Close())
}

// removeAs renames the file before it compares it, so that no program can change it in between.
func (w writer) removeAs(name string, old []byte) error {
	if err := w.untouched(name, old); err != nil {
		return err
	}
	if err := w.step(StepRename, name); err != nil {
		return err
	}
	at, err := w.mark(name, name)
	if err != nil {
		return err
	}
	t := temp{w: w, name: at}
	if w.untouched(t.name, old) != nil {
		return t.keepBeside(name, name)
	}
	return w.root.Remove(t.name)
}

// replace renames the temporary, which has the content data, over the file with the content old.
func (t *temp) replace(name string, old []byte, data content) error {
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
	t.release()
	t.hold(w.opts.TempDir)
	if err := t.mark(); err != nil {
		return err
	}
	defer t.w.alone()()
	t.hold(path.Dir(name)) // only now, because waiting for the lock may have taken long
	err = t.swap(name)
	if errors.Is(err, errors.ErrUnsupported) {
		return t.replaceUnseen(name, old)
	}
	if err != nil {
		return err
	}
	if t.replaced, err = w.openUntouched(t.name, old); err != nil {
		return t.putBack(name, data)
	}
	if !t.retain(len(data[0])) {
		_ = w.root.Remove(t.name) // the old version; the new file has its name
	}
	return nil
}

func (t *temp) release() {
	for _, d := range t.w.held {
		_ = d.Close()
	}
	t.w.held = nil
}

// syncAfter makes the entries of dirs durable. Concurrently it closes the replaced file, which has
// no name any more: only then does the system free its space, which takes as long as writing it.
func (t *temp) syncAfter(dirs []string) error {
	var freed sync.WaitGroup
	switch {
	case t.spare.root != nil:
		_ = t.replaced.Close() // which frees nothing
	case t.replaced != nil:
		freed.Go(func() { _ = t.replaced.Close() })
	}
	err := t.w.syncAll(dirs)
	freed.Wait()
	if err == nil && t.w.opts.Spare != nil {
		t.spare.made = t.made
		*t.w.opts.Spare = t.spare
	} else {
		t.spare.Remove()
	}
	return err
}

// Marked is the prefix of a temporary that may be the only copy of another program's version, if
// this process was killed. The collector does not remove it.
const Marked = "~"

// mark gives the temporary a marked name: from here on the name can refer to the other program's
// file.
func (t *temp) mark() error {
	if t.marked {
		return nil
	}
	name, err := t.w.mark(t.name, t.target)
	if err == nil {
		t.name, t.marked = name, true
	}
	return err
}

// mark renames a file to a marked temporary of a target. A rename replaces what has its new name,
// and a killed process may have left a file of that name: where the system cannot refuse that, the
// name is reserved by an empty file.
func (w writer) mark(from, target string) (string, error) {
	base := Marked + path.Base(target)
	name, err := w.unique(base, func(name string) error { return w.renameNew(from, name) })
	if !errors.Is(err, errors.ErrUnsupported) {
		return name, err
	}
	name, err = w.unique(base, func(name string) error {
		f, err := w.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, privatePerm)
		if err != nil {
			return err
		}
		return f.Close()
	})
	if err != nil {
		return "", err
	}
	if err := w.root.Rename(from, name); err != nil {
		_ = w.root.Remove(name)
		return "", err
	}
	return name, nil
}

func (t *temp) swap(name string) error {
	if err := t.w.step(StepRename, name); err != nil {
		return err
	}
	return t.w.exchange(t.name, name)
}

// replaceUnseen is for systems that cannot exchange files and so do not show which version was
// replaced.
func (t *temp) replaceUnseen(name string, old []byte) error {
	if err := t.w.untouched(name, old); err != nil {
		return err
	}
	return t.w.root.Rename(t.name, name)
}

// claim renames the temporary to a name that must be free. It makes a hard link, since a rename
// would replace a file that was just created.
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
	// The file system may not have hard links.
	if _, err := w.root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(ErrChanged, err)
	}
	return w.root.Rename(t.name, name)
}

// putBack undoes the exchange and returns [ErrChanged]. If another program has written to the new
// file in the meantime, or replaced it, that later version keeps the name, and the earlier one is
// saved beside it.
func (t *temp) putBack(name string, data content) error {
	theirs, err := t.w.root.Lstat(t.name)
	if err == nil {
		err = t.swap(name)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist): // the new file was removed, or its directory
		return t.keepBeside(name, name)
	case err != nil:
		return errors.Join(t.keepBeside(name, ""), err)
	case t.isMade() && t.w.untouched(t.name, slices.Concat(data[:]...)) == nil:
		return ErrChanged
	}
	if t.swap(name) == nil {
		if now, err := t.w.root.Lstat(t.name); err == nil && !os.SameFile(now, theirs) {
			_ = t.swap(name) // and changed a third time
		}
	}
	return t.keepBeside(name, "")
}

// An AsideError says that other programs changed a file twice while it was written, and where the
// second version was saved.
type AsideError struct{ Path, Aside string }

// Error names both.
func (e *AsideError) Error() string {
	return fmt.Sprintf("%q was changed twice by other programs; one version was saved as %q",
		e.Path, e.Aside)
}

// keepBeside renames the temporary, which another program wrote, to first, unless that is "" or
// exists, or else to the name with the beginning of its hash. If both fail it stays where it is,
// and the error names it.
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

// suffix returns the end of the name for [temp.keepBeside]: from the hash of the content, or of the
// name if the temporary is not a regular file.
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

// isMade reports whether the temporary is the file that this writer wrote, and not another
// program's.
func (t *temp) isMade() bool {
	if t.made == nil {
		return true
	}
	info, err := t.w.root.Lstat(t.name)
	return err == nil && os.SameFile(info, t.made)
}

// untouched returns [ErrChanged] unless a file has exactly the given content and no program has it
// open for writing. Time and size are not enough: a program can write twice within one tick of the
// file system's clock.
func (w writer) untouched(name string, want []byte) error {
	f, err := w.openUntouched(name, want)
	if err != nil {
		return err
	}
	return f.Close()
}

// openUntouched returns an untouched file, open.
func (w writer) openUntouched(name string, want []byte) (*os.File, error) {
	info, err := w.root.Lstat(name)
	switch {
	case err != nil:
		return nil, errors.Join(ErrChanged, err)
	case !info.Mode().IsRegular() || info.Size() != int64(len(want)):
		return nil, ErrChanged
	}
	f, err := regular.OpenIn(w.root, name)
	if err != nil {
		return nil, errors.Join(ErrChanged, err)
	}
	// Before the comparison: a program that opens the name later gets the new file.
	err = ErrChanged
	if !isWritten(f) {
		err = holds(f, want)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
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
