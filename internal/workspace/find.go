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

// DirName is the name of the directory that makes a workspace.
const DirName = ".jp"

// gitName is the name by which git knows that a directory is the root of a working tree.
const gitName = ".git"

// Find returns the nearest workspace from start upwards. Boundaries of repositories mean
// nothing to it, as they mean nothing to jp. The error is [ErrNoWorkspace] when there is
// none.
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

// Is reports whether dir is a workspace, as far as can be seen.
func Is(dir string) bool {
	ok, err := is(dir)
	return ok && err == nil
}

// is decides whether dir is a workspace: it has a real directory .jp, and is not itself
// among the blobs or conversations of another one. This is the only place that decides it,
// for the search upwards and for the one downwards. A link of that name makes none: git
// would hand us one that leads anywhere. The error says that it cannot be known.
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

// isKept reports whether a path is that of blobs or conversations of a workspace, or of
// something below them.
func isKept(dir string) bool {
	parent := filepath.Dir(dir)
	if parent == dir {
		return false
	}
	return filepath.Base(parent) == DirName && isKeptName(filepath.Base(dir)) || isKept(parent)
}

func isKeptName(name string) bool { return name == blobs.Dir || name == conversationsDir }

// FindAll returns the workspaces of the working tree at root, outermost first: all that
// [Find] can return from a directory that git takes for a part of it. It enters neither
// links nor repositories within the working tree, such as submodules. What cannot be read
// is passed over and joined into the error beside the result, which is complete except
// that.
func FindAll(root string) ([]string, error) {
	// A root that is a link would be walked as a file.
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

// Boundary returns the first ".git" on the way from root, the root of a working tree, down
// to what the workspace in dir keeps; "" when there is none. Whether git takes it for a
// repository does not matter: today's answer need not be that of tomorrow. What lies behind
// it may belong to a history that nobody who works at root can see.
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

// keeping returns a directory .jp, or a user-local one, and those in it that keep something.
func keeping(dir string) []string {
	return []string{dir, filepath.Join(dir, conversationsDir), filepath.Join(dir, blobs.Dir)}
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
