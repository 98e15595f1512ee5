package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// linkName is the link in a user-local directory by which jp finds the workspace.
const linkName = "storage"

// UserData returns the directory in the user's data that has a directory for each workspace, "" if
// the user has no data directory. It need not exist.
func (w *Workspace) UserData() string { return w.env.userData() }

// UserDirs returns every user-local directory that may belong to a workspace with one of the ids,
// or whose link leads to a directory that ours accepts. jp uses one of them, but the committed id
// may change with any pull, and then another directory is used. The error is [ErrNoUserData] if the
// user has no data directory; any other error means that there may be more.
func (w *Workspace) UserDirs(ids []string, ours func(jp string) bool) ([]string, error) {
	data := w.UserData()
	if data == "" {
		return nil, ErrNoUserData
	}
	dirs, err := userDirs(data, ids, ours)
	if err != nil {
		return nil, fmt.Errorf("list user-local directories: %w", err)
	}
	return dirs, nil
}

func userDirs(parent string, ids []string, ours func(jp string) bool) ([]string, error) {
	list, err := os.ReadDir(parent)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, d := range list {
		dir := filepath.Join(parent, d.Name())
		info, err := os.Stat(dir) // a symlink to a directory counts
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
			continue
		}
		if err != nil {
			return nil, err
		}
		jp, err := linkOf(dir)
		if err != nil {
			return nil, err
		}
		if jp != "" && ours(jp) || endsInOne(d.Name(), ids) {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

func endsInOne(name string, ids []string) bool {
	return slices.ContainsFunc(ids, func(id string) bool {
		return name == id || strings.HasSuffix(name, "-"+id)
	})
}

// linkOf returns the target of the link in a user-local directory, "" if there is none.
func linkOf(dir string) (string, error) {
	// The directory itself may be behind a symlink, and a relative link is relative to the real
	// one.
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	link := filepath.Join(dir, linkName)
	switch info, err := os.Lstat(link); {
	case errors.Is(err, fs.ErrNotExist), err == nil && info.Mode()&fs.ModeSymlink == 0:
		return "", nil
	case err != nil:
		return "", err
	}
	target, err := os.Readlink(link)
	if err == nil && !filepath.IsAbs(target) {
		target = filepath.Join(dir, target)
	}
	return target, err
}

// PrivateDirs returns the directories of jp and git-jp in the user's data that must be closed to
// other users: those of user-local data, and that of approvals and sessions.
func (e Env) PrivateDirs() []string {
	var dirs []string
	if parent := e.userData(); parent != "" {
		list, _ := os.ReadDir(parent) // a directory that cannot be listed has nothing to close
		for _, d := range list {
			if d.IsDir() {
				dirs = append(dirs, filepath.Join(parent, d.Name()))
			}
		}
	}
	if state := e.StateDir(); state != "" {
		dirs = append(dirs, state)
	}
	return dirs
}
