package gitint

import (
	"path/filepath"
	"slices"
	"strings"
)

const (
	envDir        = "GIT_DIR"
	envWorkTree   = "GIT_WORK_TREE"
	envCommonDir  = "GIT_COMMON_DIR"
	envIndexFile  = "GIT_INDEX_FILE"
	envObjectDir  = "GIT_OBJECT_DIRECTORY"
	envAlternates = "GIT_ALTERNATE_OBJECT_DIRECTORIES"
	envCeilings   = "GIT_CEILING_DIRECTORIES"

	// acrossMounts lets git search for a repository above a mount.
	acrossMounts = "GIT_DISCOVERY_ACROSS_FILESYSTEM=true"
)

// placeEnv are the variables that keep git from finding a repository by itself.
var placeEnv = [...]string{
	envDir, envWorkTree, envCommonDir, envIndexFile, envObjectDir, envCeilings,
}

// getenv returns a variable of git's environment, the last one of its name.
func (r *Repo) getenv(name string) string {
	value, _ := r.lookupEnv(name)
	return value
}

func (r *Repo) lookupEnv(name string) (string, bool) {
	for _, kv := range slices.Backward(r.env) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// settleEnv makes the paths in the environment independent of the directory in which git runs: they
// are relative to the starting directory, and git runs at the root of the working tree. It sets no
// variable that was not set, except GIT_DIR if git would not find the repository at that root: it
// may be elsewhere by GIT_WORK_TREE or core.worktree.
func (r *Repo) settleEnv() {
	r.dropEnv()
	if r.root != "" && r.getenv(envDir) == "" && !exists(filepath.Join(r.root, ".git")) {
		r.env = append(r.env, envDir+"="+r.gitDir)
	}
	r.replaceEnv(envDir, r.gitDir)
	r.replaceEnv(envCommonDir, r.commonDir)
	r.replaceEnv(envIndexFile, r.indexPath)
	r.replaceEnv(envObjectDir, r.objectDir)
	if r.root != "" {
		r.replaceEnv(envWorkTree, r.root)
	}
}

// replaceEnv changes a variable if it has a value.
func (r *Repo) replaceEnv(name, value string) {
	if old, ok := r.lookupEnv(name); ok && old != "" {
		r.env = append(r.env, name+"="+value)
	}
}

// objectDirectory returns the directory to which git writes objects. Hooks of a push have their
// own, the quarantine, by an absolute path.
func (r *Repo) objectDirectory() string {
	dir := r.getenv(envObjectDir)
	switch {
	case dir == "":
		return filepath.Join(r.commonDir, "objects")
	case filepath.IsAbs(dir):
		return filepath.Clean(dir)
	}
	return filepath.Join(r.runDir, dir)
}
