package gitint_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
)

// longAgo is earlier than gc.worktreePruneExpire.
var longAgo = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// TestWorktreesOutOfPlace makes repositories whose list lacks a worktree, or has a wrong path for
// one, and lists from where this is visible. Each has a reason, or names every path.
func TestWorktreesOutOfPlace(t *testing.T) {
	for _, tt := range []struct {
		name string
		// make returns where the repository is opened, and the environment.
		make func(r *gittest.Repository) (dir string, env []string)
		want string
	}{
		{"moved, asked there", func(r *gittest.Repository) (string, []string) {
			rename(r, "../linked", "../moved")
			return "../moved", nil
		}, "linked: git lists it at TOP/linked, and this is TOP/moved"},
		{"moved, asked elsewhere", func(r *gittest.Repository) (string, []string) {
			rename(r, "../linked", "../moved")
			return ".", nil
		}, "linked: nothing is at TOP/linked"},
		{"copied, asked there", func(r *gittest.Repository) (string, []string) {
			r.WriteFile("../copy/.git", r.ReadFile("../linked/.git"))
			return "../copy", nil
		}, "linked: git lists it at TOP/linked, and this is TOP/copy"},
		{"something else in its place", func(r *gittest.Repository) (string, []string) {
			rename(r, "../linked", "../moved")
			r.Run("init", "-q", "../linked")
			return ".", nil
		}, "linked: what is at TOP/linked is not it"},
		{"without its .git", func(r *gittest.Repository) (string, []string) {
			r.Remove("../linked/.git")
			return ".", nil
		}, "linked: TOP/linked has no .git"},
		{"listed at what is no path", func(r *gittest.Repository) (string, []string) {
			r.WriteFile(".git/worktrees/linked/gitdir", "\x00\x00\x00")
			return ".", nil
		}, "linked: lstat TOP/repo/.git/worktrees/linked/\x00\x00\x00: invalid argument"},
		{"never to be forgotten", func(r *gittest.Repository) (string, []string) {
			r.Remove("../linked")
			r.Run("config", "gc.worktreePruneExpire", "never")
			chtimes(r, ".git/worktrees/linked/index")
			return ".", nil
		}, "linked: nothing is at TOP/linked"},
		{"to be forgotten at once", func(r *gittest.Repository) (string, []string) {
			r.Remove("../linked")
			r.Run("config", "gc.worktreePruneExpire", "now")
			return ".", nil
		}, " at TOP/repo, linked at TOP/linked"},
		{"put together by the environment", func(r *gittest.Repository) (string, []string) {
			r.WriteFile("../elsewhere/x", "")
			return "../elsewhere", []string{
				"GIT_DIR=" + r.Path(".git"), "GIT_WORK_TREE=" + r.Path("../elsewhere"),
			}
		}, ": git lists it at TOP/repo, and this is TOP/elsewhere"},
		{"a directory of the environment alone", func(r *gittest.Repository) (string, []string) {
			r.WriteFile("../elsewhere/x", "")
			return "../elsewhere", []string{"GIT_DIR=" + r.Path(".git")}
		}, ": git lists it at TOP/repo, and this is TOP/elsewhere"},
		{"a linked one, elsewhere", func(r *gittest.Repository) (string, []string) {
			r.WriteFile("../elsewhere/x", "")
			return "../elsewhere", []string{
				"GIT_DIR=" + r.Path(".git/worktrees/linked"),
				"GIT_WORK_TREE=" + r.Path("../elsewhere"),
			}
		}, "linked: git lists it at TOP/linked, and this is TOP/elsewhere"},
		{"as it is, by the environment", func(r *gittest.Repository) (string, []string) {
			return ".", []string{"GIT_DIR=" + r.Path(".git"), "GIT_WORK_TREE=" + r.Dir}
		}, " at TOP/repo, linked at TOP/linked"},
		{"core.worktree leads nowhere", func(r *gittest.Repository) (string, []string) {
			r.Run("config", "core.worktree", "../../nowhere")
			return "../linked", nil
		}, ": nothing is at TOP/nowhere"},
		{"core.worktree of a linked one", func(r *gittest.Repository) (string, []string) {
			r.WriteFile("../elsewhere/x", "")
			r.Run("config", "extensions.worktreeConfig", "true")
			r.In("../linked").Run("config", "--worktree", "core.worktree", "../../../../elsewhere")
			return "../linked", nil
		}, " at TOP/repo, linked at TOP/linked, linked at TOP/elsewhere"},
		{"core.worktree of a linked one leads nowhere", func(r *gittest.Repository) (string, []string) {
			r.Run("config", "extensions.worktreeConfig", "true")
			r.In("../linked").Run("config", "--worktree", "core.worktree", "../../../../nowhere")
			return ".", nil
		}, "linked: nothing is at TOP/nowhere"},
		{"core.worktree of all, and no configuration of each", func(r *gittest.Repository) (string, []string) {
			r.Run("config", "core.worktree", "../../repo")
			return "../linked", nil
		}, " at TOP/repo, linked at TOP/linked"},
		{"core.bare on the command line", func(*gittest.Repository) (string, []string) {
			return "../linked", []string{
				"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.bare", "GIT_CONFIG_VALUE_0=true",
			}
		}, " at TOP/repo, linked at TOP/linked"},
		{"two of one repository", func(r *gittest.Repository) (string, []string) {
			r.WriteFile("../other/x", "")
			if err := os.Symlink(r.Path(".git"), r.Path("../other/.git")); err != nil {
				panic(err)
			}
			return "../other", nil
		}, " at TOP/repo,  at TOP/other, linked at TOP/linked"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := gittest.Repo(t)
			r.Commit("x")
			r.Run("worktree", "add", "-q", "../linked")
			dir, env := tt.make(r)
			repo, err := gitint.Open(t.Context(), gitint.Options{
				Dir: r.Path(dir), Env: append(r.Env, env...),
			})
			if err != nil {
				t.Fatal(err)
			}
			all, err := repo.Worktrees(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			want := strings.ReplaceAll(tt.want, "TOP", filepath.Dir(r.Dir))
			if got := inWords(all); got != want {
				t.Errorf("%s\nwant %s", got, want)
			}
		})
	}
}

// inWords returns the first reason in a list of worktrees, else their paths.
func inWords(all []gitint.Worktree) string {
	var places []string
	for _, w := range all {
		if w.Unknown != "" {
			return w.Name + ": " + w.Unknown
		}
		places = append(places, w.Name+" at "+w.Root)
	}
	return strings.Join(places, ", ")
}

func rename(r *gittest.Repository, from, to string) {
	if err := os.Rename(r.Path(from), r.Path(to)); err != nil {
		panic(err)
	}
}

func chtimes(r *gittest.Repository, name string) {
	if err := os.Chtimes(r.Path(name), longAgo, longAgo); err != nil {
		panic(err)
	}
}

// treeByEnvironment and treeByConfig return a repository whose working tree has no .git.
func treeByEnvironment(t *testing.T) *gittest.Repository {
	r := populated(t)
	r.WriteFile("../elsewhere/x", "")
	return r.With("GIT_WORK_TREE=" + r.Path("../elsewhere"))
}

func treeByConfig(t *testing.T) *gittest.Repository {
	r := populated(t)
	r.WriteFile("../elsewhere/x", "")
	r.Run("config", "core.worktree", "../../elsewhere")
	return r
}
