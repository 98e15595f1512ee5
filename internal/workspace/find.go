package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// DirName is the name of the directory that makes a workspace.
const DirName = ".jp"

// Find returns the nearest directory, from start upwards, that has a directory .jp.
// Boundaries of repositories mean nothing to it, as they mean nothing to jp. The error
// is [ErrNoWorkspace] when there is none.
func Find(start string) (string, error) {
	dir, err := filepath.Abs(start)
	if err != nil {
		return "", fmt.Errorf("find workspace of %q: %w", start, err)
	}
	for {
		if isWorkspace(dir) {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("find workspace of %q: %w", start, ErrNoWorkspace)
		}
		dir = parent
	}
}

// isWorkspace does not follow a link: git would hand us one that leads anywhere.
func isWorkspace(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, DirName))
	return err == nil && info.IsDir()
}

// FindAll returns the workspaces of the repository whose work tree is repoRoot,
// outermost first. It does not enter other repositories and submodules (any
// directory below the root that has a .git), links, .jp itself, and node_modules,
// which is never anybody's project and often most of the tree. Directories that
// cannot be read are passed over and joined into the error beside the result.
func FindAll(repoRoot string) ([]string, error) {
	var found []string
	var faults []error
	err := filepath.WalkDir(repoRoot, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			faults = append(faults, err)
			return fs.SkipDir
		}
		if !d.IsDir() {
			return nil
		}
		switch d.Name() {
		case ".git", DirName, "node_modules":
			if name != repoRoot {
				return fs.SkipDir
			}
		}
		if name != repoRoot && exists(filepath.Join(name, ".git")) {
			return fs.SkipDir
		}
		if isWorkspace(name) {
			found = append(found, name)
		}
		return nil
	})
	if err := errors.Join(append(faults, err)...); err != nil {
		return found, fmt.Errorf("find workspaces below %q: %w", repoRoot, err)
	}
	return found, nil
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
