package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/git-jp/git-jp/internal/regular"
)

// The modes of files and directories in a working tree, before the umask: those that git and other
// programs use there. Users who share a working tree set the umask.
const (
	FilePerm fs.FileMode = 0o666
	DirPerm  fs.FileMode = 0o777
)

// Options control how files are written. All names are slash-separated paths below the root.
type Options struct {
	// TempDir is the directory for temporaries, on the file system of the target. It is created if
	// missing. Required.
	TempDir string
	// Perm is the mode of the new file, before the umask. Zero keeps the mode of an existing file
	// and means 0o644 for a new one.
	Perm fs.FileMode
	// Private closes created files and directories to other users, as [MkdirPrivate] does: the
	// file, whatever its mode was before, and missing directories.
	Private bool
	// NoSync omits every sync: for files that may be lost, such as notes and caches.
	NoSync bool
	// Volume, if not nil, is synced by [Group.Commit] before any file is published, instead of each
	// file and directory. Their names are durable when it is settled. Only groups use it.
	Volume *Volume
	// Spare, if not nil, is where [ReplaceBy] keeps the replaced file for the next change.
	Spare *Spare
	// Gone, if not nil, is called before [Replace] writes a file that was removed. If it returns an
	// error, the file is not written.
	Gone func() error
	// Hook, if not nil, is called before each step with the name to be changed, possibly from
	// several goroutines. An error fails the step. For tests.
	Hook func(step Step, name string) error
}

// A Step is a system call that changes something.
type Step string

// The steps, in the order in which a write takes them.
const (
	StepMkdir   Step = "mkdir"
	StepCreate  Step = "create"
	StepWrite   Step = "write" // once for each megabyte
	StepChmod   Step = "chmod"
	StepSync    Step = "sync"
	StepClose   Step = "close"
	StepRename  Step = "rename"
	StepSyncDir Step = "syncdir"

	StepSyncVolume Step = "syncvolume"
)

// Write replaces the file name below root with data, atomically and durably. Missing parent
// directories of name are created.
func Write(root *os.Root, name string, data []byte, opts Options) error {
	w := writer{root: root, opts: opts}
	err := w.write(name, content{1: data}, func(t *temp) error { return w.renamed(t.name, name) })
	if err != nil {
		return failed("write", root, name, err)
	}
	return nil
}

func failed(op string, root *os.Root, name string, err error) error {
	return fmt.Errorf("%s %q: %w", op, name, regular.Whole(root, err))
}

// WriteIn is [Write] below a directory, which it opens and closes.
func WriteIn(dir, name string, data []byte, opts Options) error {
	root, err := regular.OpenRoot(dir)
	if err != nil {
		return err
	}
	return errors.Join(Write(root, name, data, opts), root.Close())
}

// writer has the root and options of one call.
type writer struct {
	root *os.Root
	opts Options
	held []heldDir // directories kept open for several steps
}

type heldDir struct {
	name string
	*os.File
}

// openDir opens a directory below the root, or returns it if it is held.
func (w writer) openDir(name string) (d *os.File, done func() error, err error) {
	for _, d := range w.held {
		if d.name == name {
			return d.File, func() error { return nil }, nil
		}
	}
	if d, err = w.root.OpenFile(name, os.O_RDONLY|noWait, 0); err != nil {
		return nil, nil, err
	}
	return d, d.Close, nil
}

// write makes a file of the data, which place gives the name.
func (w writer) write(name string, data content, place func(*temp) error) error {
	t, left := w.reuse(name, data)
	if t == nil {
		var err error
		if t, err = w.createTemp(name); err != nil {
			return err
		}
	}
	made, err := t.file.Stat()
	t.made = made
	if err := errors.Join(err, t.fill(left), t.finish()); err != nil {
		t.remove()
		return err
	}
	defer t.release()
	dirs, err := w.place(name, func() error { return place(t) })
	if err != nil {
		t.remove()
		return err
	}
	// The temporary's name is free from here on: another writer may have it already,
	// so no later error may remove it.
	return t.syncAfter(dirs)
}

// attempts limits how often a step is repeated because another program, such as git checkout,
// removed the still empty directory.
const attempts = 8

// rename moves the temporary oldName to newName as place does.
func (w writer) rename(oldName, newName string) (dirs []string, err error) {
	return w.place(newName, func() error { return w.renamed(oldName, newName) })
}

func (w writer) renamed(oldName, newName string) error {
	if err := w.step(StepRename, newName); err != nil {
		return err
	}
	return w.root.Rename(oldName, newName)
}

// place calls f, which publishes something under the name. It creates missing directories, and
// returns the directories to sync.
func (w writer) place(name string, f func() error) (dirs []string, err error) {
	dir := path.Dir(name)
	for range attempts {
		err = f()
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
		changed, err := w.mkdirAll(dir)
		if err != nil {
			return nil, err
		}
		dirs = append(dirs, changed...)
	}
	if err != nil {
		return nil, err
	}
	return append(dirs, dir), nil
}

// mkdirAll creates dir and its missing parents and returns the directories that have a new entry,
// outermost first.
func (w writer) mkdirAll(dir string) (changed []string, err error) {
	if dir == "." {
		return nil, nil
	}
	for range attempts {
		if err = w.mkdir(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		above, err := w.mkdirAll(path.Dir(dir))
		if err != nil {
			return nil, err
		}
		changed = append(changed, above...)
	}
	switch {
	case err == nil:
		return append(changed, path.Dir(dir)), nil
	case errors.Is(err, fs.ErrExist):
		return changed, nil // if it is no directory, the next step fails
	default:
		return nil, err
	}
}

// mkdirAllSync is mkdirAll for directories that are not synced later. The temporary directory is
// one: its parents are often the target's parents too.
func (w writer) mkdirAllSync(dir string) error {
	changed, err := w.mkdirAll(dir)
	if err != nil {
		return err
	}
	return w.syncAll(changed)
}

func (w writer) mkdir(dir string) error {
	if err := w.step(StepMkdir, dir); err != nil {
		return err
	}
	if !w.opts.Private {
		return w.root.Mkdir(dir, DirPerm)
	}
	err := w.root.Mkdir(dir, privateDir)
	if _, group := w.shared(dir); err == nil && group != 0 {
		err = w.root.Chmod(dir, privateDir|group)
	}
	return err
}

func (w writer) syncAll(dirs []string) error {
	for _, dir := range dirs {
		if err := w.syncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// syncDir makes the entries of dir durable. It is no error if another program has removed the
// directory since: then nothing is left to sync.
func (w writer) syncDir(dir string) error {
	if !w.syncs() {
		return nil
	}
	if err := w.step(StepSyncDir, dir); err != nil {
		return err
	}
	d, done, err := w.openDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(ignoreUnsupported(fsyncDir(d)), done())
}

// syncs reports whether each file and directory is synced individually.
func (w writer) syncs() bool { return !w.opts.NoSync && w.opts.Volume == nil }

func (w writer) step(s Step, name string) error {
	if w.opts.Hook == nil {
		return nil
	}
	return w.opts.Hook(s, name)
}
