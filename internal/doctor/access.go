package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

// workspaceAccess looks at the workspace in which the user is, and at its user-local storage.
func (d *examination) workspaceAccess() error {
	w, err := d.Workspace()
	if errors.Is(err, workspace.ErrNoWorkspace) {
		return nil
	}
	if err != nil {
		return err
	}
	d.accessible(w.Dir())
	if dir := w.UserDir(); dir != "" {
		d.accessible(dir)
	}
	return nil
}

// access looks at the directories of the repository in which git and this program create files, and
// at all workspaces of its working tree.
func (d *examination) access(_ context.Context, repo *gitint.Repo) error {
	if repo.Root() != "" {
		for _, dir := range d.Dirs(repo) {
			d.accessible(dir)
		}
	}
	for _, dir := range []string{repo.GitDir(), filepath.Join(repo.CommonDir(), "objects")} {
		if err := regular.Writable(dir); err != nil {
			d.refused(dir, "cannot be written", err, 1)
		}
	}
	if own := repo.Dir(); regular.Exists(own) {
		d.accessible(own)
	}
	return nil
}

// accessible adds a finding if a directory has something below it that cannot be read, and one if
// it has directories in which nothing can be created. It names only the first of each: after a copy
// by another user, there are thousands.
func (d *examination) accessible(dir string) {
	var unread, unwritten failures
	_ = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			unread.add(name, err)
		case e.IsDir() || e.Type().IsRegular():
			if err := regular.Readable(name, e.IsDir()); err != nil && !e.IsDir() {
				unread.add(name, err) // of a directory, the walk says so
			}
			if !e.IsDir() {
				break
			}
			if err := regular.Writable(name); err != nil {
				unwritten.add(name, err)
			}
		}
		return nil
	})
	d.refused(unread.first, "cannot be read", unread.err, unread.n)
	d.refused(unwritten.first, "cannot be written", unwritten.err, unwritten.n)
}

// failures count what failed in the same way.
type failures struct {
	first string
	err   error
	n     int
}

func (f *failures) add(name string, err error) {
	if f.n++; f.n == 1 {
		f.first, f.err = name, err
	}
}

// refused adds a finding for the first of n paths.
func (d *examination) refused(name, what string, err error, n int) {
	if n == 0 {
		return
	}
	problem := what + ": " + regular.Cause(err).Error()
	if n > 1 {
		problem += fmt.Sprintf(" (and %d more)", n-1)
	}
	next := ""
	if errors.Is(err, fs.ErrPermission) {
		next = check.ByMode
	}
	d.add(d.Short(name), problem, next)
}
