package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/regular"
)

// ErrApplied is returned by a second [Plan.Apply].
var ErrApplied = errors.New("the plan has been applied")

// A ChangedError reports that a hook file has changed since the plan was made. The file was left
// alone; so were the steps after it.
type ChangedError struct {
	Path string // below the common directory, or below .jp
}

// Error implements error.
func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s was changed in the meantime", e.Path)
}

const (
	stateDir = "jp"
	tempDir  = stateDir + "/tmp"
	// madeFile lists the directories that an installation made, one a line, so that uninstalling
	// can remove them.
	madeFile = stateDir + "/made-directories"
)

// Apply carries out the plan. It can be called once. After an error, completed steps stay, and a
// new plan continues from there.
func (p *Plan) Apply(ctx context.Context) error {
	if p.repo == nil {
		return ErrApplied
	}
	repo := p.repo
	p.repo = nil
	if p.Empty() {
		return nil
	}
	root, err := regular.OpenRoot(repo.CommonDir())
	if err != nil {
		return fmt.Errorf("change hooks: %w", err)
	}
	defer root.Close() //nolint:errcheck // nothing is written through it afterwards
	w := writer{root: root, hadState: exists(root, stateDir)}
	state := filepath.Join(repo.CommonDir(), stateDir)
	err = atomicfile.MkdirPrivate(state)
	if err == nil && p.shared {
		err = atomicfile.Share(state)
	}
	if err != nil {
		return fmt.Errorf("change hooks: %w", err)
	}
	for _, s := range p.steps {
		if err := do(ctx, repo, &w, s); err != nil {
			return errors.Join(fmt.Errorf("change hooks: %w", err), w.tidy())
		}
	}
	return w.tidy()
}

func do(ctx context.Context, repo Repo, w *writer, s step) error {
	switch {
	case s.key != "" && s.value != "":
		return repo.SetConfig(ctx, s.key, s.value)
	case s.key != "":
		return repo.UnsetConfig(ctx, s.key)
	case s.workspace != "":
		return writeAttributes(s)
	default:
		return w.write(s)
	}
}

// A writer applies steps below one common directory.
type writer struct {
	root     *os.Root
	hadState bool // the state directory existed before
}

func (w *writer) write(s step) error {
	if err := unchanged(w.root, s); err != nil {
		return err
	}
	var made []string
	if !s.remove {
		var err error
		if made, err = w.noteNewDirs(path.Dir(s.file)); err != nil {
			return err
		}
		made = append(made, s.file)
	}
	err := s.replace(w.root, atomicfile.Options{TempDir: tempDir, Perm: s.perm})
	for _, name := range made {
		if err == nil {
			err = atomicfile.Adopt(filepath.Join(w.root.Name(), filepath.FromSlash(name)))
		}
	}
	return err
}

// replace writes or removes the file, unless it differs from the one that the plan saw.
func (s step) replace(root *os.Root, opts atomicfile.Options) (err error) {
	switch {
	case s.remove:
		err = atomicfile.Remove(root, s.file, []byte(s.old), opts)
	case s.absent:
		err = atomicfile.Replace(root, s.file, nil, []byte(s.new), opts)
	default:
		err = atomicfile.Replace(root, s.file, []byte(s.old), []byte(s.new), opts)
	}
	if errors.Is(err, atomicfile.ErrChanged) {
		return &ChangedError{Path: s.file}
	}
	return err
}

// unchanged returns an error unless the file that a step replaces is the one that the plan saw.
func unchanged(root *os.Root, s step) error {
	data, err := regular.Read(regular.In(root), s.file, regular.MaxNote)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if s.absent {
			return nil
		}
		return &ChangedError{Path: s.file}
	case err != nil:
		return err
	case s.absent || string(data) != s.old:
		return &ChangedError{Path: s.file}
	}
	return nil
}

// noteNewDirs records dir and its parents that do not exist and are about to be made, and returns
// them, the outer ones first.
func (w *writer) noteNewDirs(dir string) (missing []string, err error) {
	for ; dir != "." && !exists(w.root, dir); dir = path.Dir(dir) {
		missing = append(missing, dir)
	}
	if missing == nil {
		return nil, nil
	}
	made, err := regular.Read(regular.In(w.root), madeFile, regular.MaxNote)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	// The inner directories come first, in the order in which they are removed.
	note := append([]byte(strings.Join(missing, "\n")+"\n"), made...)
	slices.Reverse(missing)
	return missing, atomicfile.Write(w.root, madeFile, note, atomicfile.Options{
		TempDir: tempDir, Private: true,
	})
}

// tidy removes what only this package left: temporary directories, and directories that it made and
// that are empty again.
func (w *writer) tidy() error {
	made, err := regular.Read(regular.In(w.root), madeFile, regular.MaxNote)
	if err == nil {
		err = w.removeMade(strings.Split(strings.TrimSuffix(string(made), "\n"), "\n"))
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	// Both are removed only when they are empty.
	_ = w.root.Remove(tempDir)
	if !w.hadState || made != nil {
		_ = w.root.Remove(stateDir)
	}
	if err != nil {
		return fmt.Errorf("tidy up after changing hooks: %w", err)
	}
	return nil
}

// removeMade removes the recorded directories as far as they are empty, and the record when all are
// removed.
func (w *writer) removeMade(dirs []string) error {
	for _, dir := range dirs {
		if !emptyDir(w.root, dir) {
			return nil
		}
		if err := w.root.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return w.root.Remove(madeFile)
}

func exists(root *os.Root, name string) bool {
	_, err := root.Lstat(name)
	return err == nil
}

// emptyDir reports whether dir is empty or does not exist.
func emptyDir(root *os.Root, dir string) bool {
	entries, err := fs.ReadDir(regular.In(root), dir)
	return errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0
}
