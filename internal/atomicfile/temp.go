package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// A temp is a file that is not published under its own name yet.
type temp struct {
	w      writer
	name   string
	target string
	file   *os.File
	perm   fs.FileMode // to set at the end; 0 leaves what creating gave
	made   fs.FileInfo // the file that we wrote; nil if no other file can get its name
	marked bool        // it has a marked name

	replaced *os.File // the file that had the target's name before, open
	spare    Spare    // if it is kept; else it is unlinked
}

// isLocal is [fs.ValidPath] for names that need not be UTF-8.
func isLocal(name string) bool {
	return path.Clean(name) == name && filepath.IsLocal(filepath.FromSlash(name))
}

// createTemp creates the temporary of target, with the mode for target.
func (w writer) createTemp(target string) (*temp, error) {
	if !isLocal(target) || target == "." {
		return nil, &fs.PathError{Op: "write", Path: target, Err: fs.ErrInvalid}
	}
	perm, chmod := w.modes(target)
	var file *os.File
	name, err := w.unique(target, func(name string) (err error) {
		if err := w.step(StepCreate, name); err != nil {
			return err
		}
		file, err = w.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &temp{w: w, name: name, target: target, file: file, perm: chmod}, nil
}

// modes returns the mode with which the temporary of target is created, and the one that it is set
// to afterwards, 0 for none.
func (w writer) modes(target string) (perm, chmod fs.FileMode) {
	perm = w.opts.Perm
	switch {
	case w.opts.Private:
		perm = privatePerm
		if group, _ := w.shared(target); group != 0 {
			perm, chmod = perm|group, perm|group // the umask excludes the group
		}
	case perm == 0:
		perm = FilePerm
		// Not Stat: the mode of what a symbolic link points to is none of ours.
		if info, err := w.root.Lstat(target); err == nil && info.Mode().IsRegular() {
			perm, chmod = info.Mode().Perm(), info.Mode().Perm()
		}
	}
	return perm, chmod
}

// MkdirTemp creates a new directory in opts.TempDir, named after base, to be filled for
// [PublishDir], and returns its name below root.
func MkdirTemp(root *os.Root, base string, opts Options) (string, error) {
	w := writer{root: root, opts: opts}
	name, err := w.unique(base, w.mkdir)
	if err != nil {
		return "", fmt.Errorf("make temporary directory: %w", err)
	}
	return name, nil
}

// uniqueAttempts limits the search for a free name. Only leftovers of killed processes with the
// same process id, and other goroutines, can have taken names.
const uniqueAttempts = 10_000

// unique calls create with names in the temporary directory until one is free. The names need no
// randomness: the creation is exclusive, and the process id only saves attempts.
func (w writer) unique(target string, create func(name string) error) (string, error) {
	if !isLocal(w.opts.TempDir) {
		return "", &fs.PathError{Op: "write", Path: w.opts.TempDir, Err: fs.ErrInvalid}
	}
	base := path.Base(target)
	base = strings.ToValidUTF8(base[:min(len(base), 80)], "")
	made := 0
	for n := range uniqueAttempts {
		name := fmt.Sprintf("%s/%s.%d.%d", w.opts.TempDir, base, os.Getpid(), n)
		err := create(name)
		switch {
		case err == nil:
			return name, nil
		case errors.Is(err, fs.ErrExist):
		case errors.Is(err, fs.ErrNotExist) && made < attempts:
			if err := w.mkdirAllSync(w.opts.TempDir); err != nil {
				return "", err
			}
			made++
		default:
			return "", err
		}
	}
	return "", &fs.PathError{Op: "create", Path: w.opts.TempDir + "/" + base, Err: fs.ErrExist}
}

// chunk is how much is written at once, so that a test can die in the middle.
const chunk = 1 << 20

// content is the new content of a file, in two pieces, of which the first may be empty.
type content [2][]byte

func (c content) size() int { return len(c[0]) + len(c[1]) }

func (t *temp) fill(data content) error {
	if len(data[0]) > 0 {
		if err := t.write(data[0]); err != nil {
			return err
		}
	}
	return t.write(data[1])
}

func (t *temp) write(data []byte) error {
	for {
		part := data[:min(len(data), chunk)]
		if err := t.w.step(StepWrite, t.name); err != nil {
			return err
		}
		n, err := t.file.Write(part)
		if err != nil {
			return err
		}
		if n != len(part) {
			return &fs.PathError{Op: "write", Path: t.name, Err: io.ErrShortWrite}
		}
		if data = data[n:]; len(data) == 0 {
			return nil
		}
	}
}

// finish makes the bytes durable and always closes the file. It closes before the rename, because
// Windows does not rename open files.
func (t *temp) finish() error {
	return errors.Join(t.settle(), t.close())
}

func (t *temp) settle() error {
	if t.perm != 0 {
		if err := t.chmod(); err != nil {
			return err
		}
	}
	if !t.w.syncs() {
		return nil
	}
	if err := t.w.step(StepSync, t.name); err != nil {
		return err
	}
	return t.file.Sync()
}

func (t *temp) chmod() error {
	if err := t.w.step(StepChmod, t.name); err != nil {
		return unlessSet(err, t.file, t.perm)
	}
	return SetPerm(t.file, t.perm)
}

// SetPerm sets the permissions of a file. File systems that give all files the same, as FAT and
// some network shares do, refuse that even if nothing would change, which is no error.
func SetPerm(f *os.File, perm fs.FileMode) error {
	return unlessSet(f.Chmod(perm), f, perm)
}

func unlessSet(err error, f *os.File, perm fs.FileMode) error {
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if info, failed := f.Stat(); failed != nil || info.Mode().Perm() != perm.Perm() {
		return err
	}
	return nil
}

func (t *temp) close() error {
	return errors.Join(t.w.step(StepClose, t.name), t.file.Close())
}

// remove removes the temporary after an error and ignores a second one. It does not remove another
// program's file.
func (t *temp) remove() {
	if t.isMade() {
		_ = t.w.root.Remove(t.name)
	}
}
