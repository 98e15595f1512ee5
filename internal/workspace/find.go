package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
)

// DirName is the name of the directory in every workspace.
const DirName = ".jp"

// gitName is the name of the file or directory by which git recognizes the root of a working tree.
const gitName = ".git"

// Find returns the nearest workspace from start upwards. Like jp, it ignores the boundaries of
// repositories. The error is [ErrNoWorkspace] if there is none.
func Find(start string) (string, error) {
	dir, err := filepath.Abs(start)
	if err != nil {
		return "", fmt.Errorf("find workspace of %q: %w", start, err)
	}
	for {
		if Is(dir) {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("%w in %q or above", ErrNoWorkspace, start)
		}
		dir = parent
	}
}

// Is reports whether dir is a workspace. It returns false if that cannot be determined.
func Is(dir string) bool {
	ok, err := is(dir)
	return ok && err == nil
}

// is reports whether dir is a workspace: it has a real directory .jp, and is not inside the blobs
// or conversations of another one. Both the search upwards and the one downwards use this function.
// A symlink .jp does not count: git could check out one that leads anywhere. The error says that it
// cannot be determined.
func is(dir string) (bool, error) {
	switch info, err := os.Lstat(filepath.Join(dir, DirName)); {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	default:
		return info.IsDir() && !isKept(dir), nil
	}
}

// isKept reports whether a path is the blobs or conversations directory of a workspace, or below
// one.
func isKept(dir string) bool {
	parent := filepath.Dir(dir)
	if parent == dir {
		return false
	}
	return filepath.Base(parent) == DirName && isKeptName(filepath.Base(dir)) || isKept(parent)
}

func isKeptName(name string) bool { return name == blobs.Dir || name == ConversationsDir }

// FindAll returns the workspaces of the working tree at root, outermost first: all that [Find] can
// return from a directory that git considers part of it. It does not follow symlinks and does not
// enter repositories within the working tree, such as submodules. It skips directories that it
// cannot read, and returns their errors together with an otherwise complete result.
func FindAll(root string) ([]string, error) {
	// A root that is a symlink would be walked as a file.
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, fmt.Errorf("find workspaces below %q: %w", root, err)
	}
	var found []string
	var faults []error
	err = filepath.WalkDir(real, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			faults = append(faults, err)
			return fs.SkipDir
		case !d.IsDir():
			return nil
		case isKept(name):
			return fs.SkipDir
		case name != real && (d.Name() == gitName || IsRepository(name)):
			return fs.SkipDir
		}
		switch ok, err := is(name); {
		case err != nil:
			faults = append(faults, err)
		case ok:
			found = append(found, filepath.Join(root, strings.TrimPrefix(name, real)))
		}
		return nil
	})
	if err := errors.Join(append(faults, err)...); err != nil {
		return found, fmt.Errorf("find workspaces below %q: %w", root, err)
	}
	return found, nil
}

// Boundary returns the first ".git" on the way from root, the root of a working tree, down to the
// directories in which the workspace in dir stores data; "" if there is none. Whether git
// recognizes it as a repository does not matter, because that may change. Data behind it may belong
// to a history that is invisible from root.
func Boundary(root, dir string) (string, error) {
	rel, err := filepath.Rel(root, dir)
	if err != nil {
		return "", err
	}
	way := keeping(filepath.Join(dir, DirName))
	for ; rel != "." && filepath.IsLocal(rel); rel = filepath.Dir(rel) {
		way = slices.Insert(way, 0, filepath.Join(root, rel))
	}
	return firstGit(way)
}

// UserBoundary is [Boundary] for a directory of user-local conversations.
func UserBoundary(dir string) (string, error) { return firstGit(keeping(dir)) }

// keeping returns a directory .jp, or a user-local one, and those of its subdirectories that store
// data.
func keeping(dir string) []string {
	return []string{dir, filepath.Join(dir, ConversationsDir), filepath.Join(dir, blobs.Dir)}
}

func firstGit(dirs []string) (string, error) {
	for _, at := range dirs {
		name := filepath.Join(at, gitName)
		switch _, err := os.Lstat(name); {
		case err == nil:
			return name, nil
		case !isNone(err):
			return "", err
		}
	}
	return "", nil
}
