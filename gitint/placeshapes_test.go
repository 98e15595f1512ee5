package gitint_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
)

func placeShapes() []repositoryShape {
	return []repositoryShape{
		{name: "bare", make: func(t *testing.T) *gittest.Repository { return bareClone(t) }},
		{name: "inside a bare repository", make: func(t *testing.T) *gittest.Repository {
			return bareClone(t).In("objects")
		}},
		{name: "bare in the working tree of another", make: bareInside},
		{name: "inside .git", make: func(t *testing.T) *gittest.Repository {
			return populated(t).In(".git")
		}},
		{name: "linked worktree", make: linked},
		{name: "linked worktree, no ref packed", make: func(t *testing.T) *gittest.Repository {
			r := populated(t)
			r.Run("worktree", "add", "-q", "../linked", "side")
			return r.In("../linked")
		}},
		{name: "subdirectory of a linked worktree", make: func(t *testing.T) *gittest.Repository {
			return linked(t).In("b")
		}},
		{name: "main worktree with a linked one", make: func(t *testing.T) *gittest.Repository {
			return linked(t).In("../repo")
		}},
		{name: "working tree of a bare repository", make: func(t *testing.T) *gittest.Repository {
			r := bareClone(t)
			r.Run("worktree", "add", "-q", "../tree", "side")
			return r.In("../tree")
		}},
		{name: "worktree beside its bare repository, both below a .git", make: besideBare},
		{name: "bare below the .git that leads to it", make: func(t *testing.T) *gittest.Repository {
			return besideBare(t).In("../.bare/refs")
		}},
		{name: "directory of a .git that leads to a bare one", make: func(t *testing.T) *gittest.Repository {
			return besideBare(t).In("..")
		}},
		{name: "submodule", make: submodule},
		{name: "with a submodule", make: func(t *testing.T) *gittest.Repository {
			return submodule(t).In("..")
		}},
		{name: "separate git dir", make: func(t *testing.T) *gittest.Repository {
			r := populated(t)
			r.Run("init", "-q", "--separate-git-dir", "../elsewhere.git")
			return r
		}},
		{name: "symlinked directory", make: func(t *testing.T) *gittest.Repository {
			r := populated(t)
			symlink(t, r.Dir, r.Path("../by-link"))
			return r.In("../by-link/b")
		}},
		{name: "symlinked .git, objects and refs", make: symlinkedParts},
		{name: "path with a line feed", make: func(t *testing.T) *gittest.Repository {
			r := populated(t)
			moved := r.Path("../two\nlines")
			if err := os.Rename(r.Dir, moved); err != nil {
				t.Fatal(err)
			}
			return r.In(moved)
		}},
		{name: "GIT_DIR and GIT_WORK_TREE, relative", make: func(t *testing.T) *gittest.Repository {
			r := populated(t)
			return r.In("b").With("GIT_DIR=../.git", "GIT_WORK_TREE=..")
		}},
		{name: "GIT_WORK_TREE elsewhere, without GIT_DIR", make: treeByEnvironment},
		{name: "core.worktree elsewhere", make: treeByConfig},
		{name: "GIT_DIR from elsewhere", make: func(t *testing.T) *gittest.Repository {
			r := populated(t)
			return r.In(gittest.TempDir(t)).With("GIT_DIR=" + r.Path(".git"))
		}},
		{name: "GIT_INDEX_FILE, relative to the root", make: otherIndex},
	}
}

func bareClone(t *testing.T) *gittest.Repository {
	t.Helper()
	r := populated(t)
	r.Run("clone", "-q", "--mirror", ".", "../bare.git")
	return r.In("../bare.git")
}

// besideBare returns a worktree in a directory that also has its bare repository and a file .git
// that leads there.
func besideBare(t *testing.T) *gittest.Repository {
	t.Helper()
	r := populated(t)
	r.Run("clone", "-q", "--mirror", ".", "../project/.bare")
	r.WriteFile("../project/.git", "gitdir: ./.bare\n")
	project := r.In("../project")
	project.Run("worktree", "add", "-q", "tree", "side")
	return project.In("tree")
}

func bareInside(t *testing.T) *gittest.Repository {
	r := populated(t)
	r.Run("init", "-q", "--bare", "inner.git")
	inner := r.In("inner.git")
	inner.Run("fetch", "-q", "..", "side:main") // a push would start git's maintenance there
	return inner.With("GIT_DIR=" + inner.Dir)   // otherwise it is refused
}

func linked(t *testing.T) *gittest.Repository {
	t.Helper()
	r := populated(t)
	r.Run("pack-refs", "--all")
	r.Run("worktree", "add", "-q", "../linked", "side")
	l := r.In("../linked")
	l.WriteFile("only here", "staged\n")
	l.Run("add", "-A")
	l.Run("update-ref", "refs/worktree/own", "HEAD")
	l.Run("update-ref", "refs/bisect/good", "HEAD")
	l.Run("update-ref", "refs/rewritten/x", "HEAD~1")
	r.Run("update-ref", "refs/worktree/of-main", "HEAD")
	return l
}

func submodule(t *testing.T) *gittest.Repository {
	t.Helper()
	r, inner := populated(t), populated(t)
	r.Run("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.Dir, "sub")
	r.Commit("with a submodule")
	return r.In("sub")
}

func symlink(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

func symlinkedParts(t *testing.T) *gittest.Repository {
	r := populated(t)
	for _, part := range []string{".git/objects", ".git/refs", ".git"} {
		moved := r.Path("../moved-" + filepath.Base(part))
		if err := os.Rename(r.Path(part), moved); err != nil {
			t.Fatal(err)
		}
		symlink(t, moved, r.Path(part))
	}
	return r
}

func otherIndex(t *testing.T) *gittest.Repository {
	r := populated(t)
	other := r.With("GIT_INDEX_FILE=.git/other-index")
	other.Run("read-tree", "side")
	other.WriteFile("other", "other\n")
	other.Run("add", "other")
	return other.In("b")
}
