package gitint

import (
	"path/filepath"

	"github.com/git-jp/git-jp/gitint/internal/environ"
	"github.com/git-jp/git-jp/internal/regular"
)

// settleEnv makes the paths in the environment independent of the directory in which git runs: they
// are relative to the starting directory, and git runs at the root of the working tree. It sets no
// variable that was not set, except GIT_DIR if git would not find the repository at that root: it
// may be elsewhere by GIT_WORK_TREE or core.worktree.
func (r *Repo) settleEnv() {
	env := r.git.Env.Clean()
	if r.root != "" && env.Get(environ.Dir) == "" &&
		!regular.Exists(filepath.Join(r.root, ".git")) {
		env = append(env, environ.Dir+"="+r.gitDir)
	}
	env = env.Replaced(environ.Dir, r.gitDir).Replaced(environ.CommonDir, r.commonDir).
		Replaced(environ.IndexFile, r.indexPath).Replaced(environ.ObjectDir, r.objectDir)
	if r.root != "" {
		env = env.Replaced(environ.WorkTree, r.root)
	}
	r.git.Env = env
}

// objectDirectory returns the directory to which git writes objects. Hooks of a push have their
// own, the quarantine, by an absolute path.
func (r *Repo) objectDirectory() string {
	dir := r.git.Env.Get(environ.ObjectDir)
	switch {
	case dir == "":
		return filepath.Join(r.commonDir, "objects")
	case filepath.IsAbs(dir):
		return filepath.Clean(dir)
	}
	return filepath.Join(r.git.Dir, dir)
}
