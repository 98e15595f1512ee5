package atomicfile

import (
	"errors"
	"io/fs"
	"os"

	"github.com/git-jp/git-jp/internal/regular"
)

// WriteNew writes a new file below a directory that [PublishDir] will publish and sync. Until then
// nobody reads the file, so it is made under its own name, and not synced.
func WriteNew(root *os.Root, name string, data []byte, opts Options) error {
	if err := (writer{root: root, opts: opts}).writeNew(name, data); err != nil {
		return failed("write", root, name, err)
	}
	return nil
}

func (w writer) writeNew(name string, data []byte) error {
	if !isLocal(name) || name == "." {
		return &fs.PathError{Op: "write", Path: name, Err: fs.ErrInvalid}
	}
	w.opts.NoSync = true
	if w.opts.Perm == 0 {
		w.opts.Perm = FilePerm // there is no file whose mode it keeps
	}
	t := &temp{w: w, name: name, target: name}
	perm, chmod := w.modes(name)
	t.perm = chmod
	_, err := w.place(name, func() (err error) {
		if err := w.step(StepCreate, name); err != nil {
			return err
		}
		t.file, err = w.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		return err
	})
	if err != nil {
		return err
	}
	return errors.Join(t.fill(content{1: data}), t.finish())
}

// PublishDir makes everything below the directory tmpName durable and renames it to name. If name
// exists, the error is [fs.ErrExist] and name is unchanged. (An empty directory that is created at
// name in the same instant may be replaced; that loses nothing.) Missing parents of name are
// created.
//
// On an error before the rename tmpName is kept, so that the caller may try another name, and must
// remove it in the end.
func PublishDir(root *os.Root, tmpName, name string, opts Options) error {
	w := writer{root: root, opts: opts}
	if err := w.publishDir(tmpName, name); err != nil {
		return failed("publish", root, name, err)
	}
	return nil
}

func (w writer) publishDir(tmpName, name string) error {
	if !isLocal(tmpName) || !isLocal(name) || name == "." {
		return &fs.PathError{Op: "rename", Path: name, Err: fs.ErrInvalid}
	}
	if err := w.syncTree(tmpName); err != nil {
		return err
	}
	// A rename would replace an empty directory, and on some systems a file.
	if _, err := w.root.Lstat(name); err == nil {
		return &fs.PathError{Op: "rename", Path: name, Err: fs.ErrExist}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dirs, err := w.rename(tmpName, name)
	if err != nil {
		return err // ENOTEMPTY, if another process was faster, is fs.ErrExist
	}
	return w.syncAll(dirs)
}

// syncTree syncs every file and directory below dir, and dir itself.
func (w writer) syncTree(dir string) error {
	if !w.syncs() {
		return nil
	}
	root, err := regular.OpenRootIn(w.root, dir) // saves resolving the path in each step
	if err != nil {
		return err
	}
	err = (writer{root: root, opts: w.opts}).syncAllBelow()
	return errors.Join(err, root.Close())
}

func (w writer) syncAllBelow() error {
	return fs.WalkDir(regular.In(w.root), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return w.syncDir(name)
		case e.Type().IsRegular():
			return w.syncFile(name)
		default:
			return &fs.PathError{Op: "sync", Path: name, Err: fs.ErrInvalid}
		}
	})
}

func (w writer) syncFile(name string) error {
	if err := w.step(StepSync, name); err != nil {
		return err
	}
	f, err := w.root.OpenFile(name, syncFlag, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
