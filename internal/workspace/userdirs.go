package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// linkName is the link in a user-local directory by which jp finds the workspace again.
const linkName = "storage"

// UserData returns the directory in which the user's data has a directory for each workspace, ""
// when the user has no such data at all. It need not exist.
func (w *Workspace) UserData() string {
	data := w.env.jpDataDir()
	if data == "" {
		return ""
	}
	return filepath.Join(data, "workspace")
}

// UserDirs returns every directory of user-local data that may be one of a workspace with
// one of the ids, or whose link leads to one that is ours. jp works with one of them; the id
// that is committed may change with any pull, and another directory be that of the workspace
// then. The error is [ErrNoUserData] when the user has no such data at all; any other says that
// there may be more.
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
		info, err := os.Stat(dir) // a link to a directory will do
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
	for _, id := range ids {
		if name == id || strings.HasSuffix(name, "-"+id) {
			return true
		}
	}
	return false
}

// linkOf returns where the link in a user-local directory leads, "" when there is none.
func linkOf(dir string) (string, error) {
	// The directory may itself be behind a link, and a relative one begins where it is.
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

// PrivateDirs returns the directories of the user's data, jp's and ours, that have to be closed
// to others: those of user-local data, and that of approvals and sessions.
func (e Env) PrivateDirs() []string {
	var dirs []string
	if data := e.jpDataDir(); data != "" {
		parent := filepath.Join(data, "workspace")
		list, _ := os.ReadDir(parent) // what cannot be listed has nothing for others
		for _, d := range list {
			if d.IsDir() {
				dirs = append(dirs, filepath.Join(parent, d.Name()))
			}
		}
	}
	if state := e.stateDir(); state != "" {
		dirs = append(dirs, state)
	}
	return dirs
}
