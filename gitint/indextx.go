package gitint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/git-jp/git-jp/gitint/internal/git"
	"github.com/git-jp/git-jp/gitint/internal/gitlock"
	"github.com/git-jp/git-jp/gitint/internal/index"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/regular"
)

// An indexTx changes an index in several git commands, of which readers see all or none. It holds
// git's lock of the index, lets git work on a copy, and renames the copy into place.
type indexTx struct {
	repo  *Repo
	path  string // the index
	work  string // the copy
	lock  *gitlock.Lock
	wrote bool
}

// beginIndex locks an index, which need not exist. The caller must call rollback in the end, also
// after a commit.
func (r *Repo) beginIndex(ctx context.Context, file string, wait time.Duration) (*indexTx, error) {
	path, err := r.indexFile(file)
	if err != nil {
		return nil, err
	}
	lock, err := gitlock.Take(ctx, path, r.waitFor(wait), r.root, r.gitDir)
	if err != nil {
		return nil, err
	}
	// A git that outlives a killed run must not write to the copy of the next run.
	work := path + gitlock.WorkSuffix + strconv.Itoa(os.Getpid())
	tx := &indexTx{repo: r, path: path, work: work, lock: lock}
	if err := tx.copyIndex(); err != nil {
		tx.rollback()
		return nil, fmt.Errorf("copy index %q: %w", path, err)
	}
	return tx, nil
}

// indexFile resolves the name of an index as git does: relative to the root of the working tree,
// and through a symbolic link.
func (r *Repo) indexFile(file string) (string, error) {
	if file == "" {
		file = r.IndexPath()
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(r.root, file)
	}
	real, err := filepath.EvalSymlinks(file)
	if errors.Is(err, fs.ErrNotExist) {
		return file, nil
	}
	return real, err
}

// copyIndex gives the copy the time of the original. Git reads a file that is as new as the index
// before it considers it unchanged; with a newer copy it would trust files that it must read.
func (tx *indexTx) copyIndex() error {
	tx.removeLeft()
	src, err := regular.OpenFile(tx.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer src.Close() //nolint:errcheck // nothing was written
	fi, err := src.Stat()
	if err != nil {
		return err
	}
	// Git writes a new file and renames it, so that a hard link is as good as a copy.
	if fi.Mode().IsRegular() && os.Link(tx.path, tx.work) == nil {
		return nil
	}
	dst, err := os.OpenFile(tx.work, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fi.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if err == nil {
		err = atomicfile.SetPerm(dst, fi.Mode().Perm())
	}
	if err = errors.Join(err, dst.Close()); err != nil {
		return err
	}
	return os.Chtimes(tx.work, fi.ModTime(), fi.ModTime())
}

// change runs a git command that writes the copy.
func (tx *indexTx) change(ctx context.Context, stdin io.Reader, args ...string) error {
	// update-index would run a post-index-change hook.
	args = append([]string{"-c", "core.hooksPath=" + os.DevNull}, args...)
	_, err := tx.repo.git.Run(ctx, git.Command{
		Args: args, Stdin: stdin, Env: []string{"GIT_INDEX_FILE=" + tx.work}, Write: true,
	})
	tx.wrote = true
	return err
}

// commit replaces the index with the copy, if that was changed.
func (tx *indexTx) commit() error {
	if !tx.wrote {
		return nil
	}
	if err := os.Rename(tx.work, tx.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("replace index: %w", err)
	}
	return nil
}

// rollback removes the copy, if it still exists, and then the lock.
func (tx *indexTx) rollback() {
	tx.removeWork()
	tx.lock.Release()
}

// removeLeft removes the copies that crashes left: they are only used under the lock.
func (tx *indexTx) removeLeft() {
	list, err := os.ReadDir(filepath.Dir(tx.path))
	if err != nil {
		return
	}
	for _, e := range list {
		pid, ok := strings.CutPrefix(e.Name(), filepath.Base(tx.path)+gitlock.WorkSuffix)
		if _, err := strconv.Atoi(strings.TrimSuffix(pid, gitlock.Suffix)); ok && err == nil {
			_ = os.Remove(filepath.Join(filepath.Dir(tx.path), e.Name()))
		}
	}
}

func (tx *indexTx) removeWork() {
	_ = os.Remove(tx.work)
	_ = os.Remove(tx.work + gitlock.Suffix)
}

// entries returns the entries of the copy for some paths, by path.
func (tx *indexTx) entries(ctx context.Context, paths []string) (map[string][]index.Entry, error) {
	found := make(map[string][]index.Entry, len(paths))
	if len(paths) == 0 {
		return found, nil
	}
	wanted := lists.Set(paths)
	all, ok := tx.read(wanted)
	if !ok {
		var err error
		if all, err = tx.list(ctx, commonDir(paths)); err != nil {
			return nil, fmt.Errorf("list index: %w", err)
		}
	}
	for _, e := range all {
		if wanted[e.Path] {
			found[e.Path] = append(found[e.Path], e)
		}
	}
	return found, nil
}

// read reads the entries in this process; false if git must be asked, which reports any fault.
func (tx *indexTx) read(wanted map[string]bool) ([]index.Entry, bool) {
	f, err := index.Read(tx.work, tx.repo.gitDir, tx.repo.idSize(),
		func(_ *index.Entry, name []byte) bool { return wanted[string(name)] })
	if err != nil || !f.IsPlain() {
		return nil, false
	}
	return f.Entries()
}

// list asks git for the entries below a directory.
func (tx *indexTx) list(ctx context.Context, dir string) (all []index.Entry, err error) {
	args := []string{"ls-files", "-z", "--stage", "-v"}
	if dir != "" {
		args = append(args, "--", dir)
	}
	out, err := tx.repo.git.Run(ctx, git.Command{
		Args: args, Env: []string{"GIT_INDEX_FILE=" + tx.work},
	})
	if err != nil {
		return nil, err
	}
	for _, line := range splitZ(out) {
		e, err := index.ParseLine(line)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// commonDir returns the deepest directory that contains all the paths, "" for the root.
func commonDir(paths []string) string {
	dir := path.Dir(paths[0])
	for _, p := range paths[1:] {
		for dir != "." && !strings.HasPrefix(p, dir+"/") {
			dir = path.Dir(dir)
		}
	}
	if dir == "." {
		return ""
	}
	return dir
}
