package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"github.com/git-jp/git-jp/internal/regular"
)

const stepRemove Step = "remove"

// MoveDir renames a directory. Where the system cannot, as overlayfs cannot rename a directory of a
// lower layer, it publishes a copy as [PublishDir] does, and then removes the original: name by
// name, so that a crash leaves both, of which the copy is complete. What another program wrote in
// the meantime is not removed. The caller syncs the parents, and has made the one of to.
func MoveDir(root *os.Root, from, to string, opts Options) error {
	w := writer{root: root, opts: opts}
	err := w.renamed(from, to)
	if errors.Is(err, syscall.EXDEV) {
		err = w.carry(from, to)
	}
	return err
}

// carry moves a directory by copying it.
func (w writer) carry(from, to string) error {
	temp, err := MkdirTemp(w.root, from, w.opts)
	if err != nil {
		return err
	}
	copied, err := w.copyTree(from, temp)
	if err == nil {
		err = PublishDir(w.root, temp, to, w.opts)
	}
	if err != nil {
		return errors.Join(err, w.root.RemoveAll(temp))
	}
	for _, c := range slices.Backward(copied) { // the content of a directory before it
		if err := w.removeCopied(c); err != nil {
			return fmt.Errorf("%s is complete, and %s is left: %w", to, from, err)
		}
	}
	return nil
}

// A copied is a file or directory that was copied, as it was before.
type copied struct {
	name string
	info fs.FileInfo
}

// copyTree copies what is in a directory into another one, and returns what it copied, from the
// directory itself on.
func (w writer) copyTree(from, to string) (all []copied, err error) {
	err = fs.WalkDir(regular.In(w.root), from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := w.root.Lstat(name)
		if err != nil {
			return err
		}
		all = append(all, copied{name, info})
		if name == from {
			return nil
		}
		return w.copyAs(to+name[len(from):], name, info)
	})
	for _, c := range slices.Backward(all) {
		if err == nil && c.info.IsDir() && !w.opts.Private {
			err = w.root.Chmod(to+c.name[len(from):], c.info.Mode().Perm())
		}
	}
	return all, err
}

func (w writer) copyAs(to, from string, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return w.mkdir(to)
	case info.Mode().IsRegular():
		return w.copyFile(to, from, info)
	default: // publishing a directory refuses it too
		return &fs.PathError{Op: "copy", Path: from, Err: fs.ErrInvalid}
	}
}

// copyFile copies a file with its mode and its time: of two copies of a conversation jp trusts the
// newer one.
func (w writer) copyFile(to, from string, info fs.FileInfo) error {
	source, err := regular.OpenUnlinked(w.root, from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	if err := w.step(StepCreate, to); err != nil {
		return err
	}
	target, err := w.root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	err = w.step(StepWrite, to)
	if err == nil {
		_, err = io.Copy(target, source)
	}
	if err == nil {
		err = SetPerm(target, info.Mode().Perm())
	}
	if err := errors.Join(err, target.Close()); err != nil {
		return err
	}
	return w.root.Chtimes(to, info.ModTime(), info.ModTime())
}

// removeCopied removes a name, unless it is another file by now, or the file has been written.
func (w writer) removeCopied(c copied) error {
	now, err := w.root.Lstat(c.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !c.info.IsDir() && (!os.SameFile(now, c.info) || now.Size() != c.info.Size() ||
		!now.ModTime().Equal(c.info.ModTime())):
		return &fs.PathError{Op: "remove", Path: c.name, Err: errors.New("it was written just now")}
	}
	if err := w.step(stepRemove, c.name); err != nil {
		return err
	}
	return w.root.Remove(c.name)
}
