package gitint_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
)

// agrees opens a repository, compares the result, or the failure, with git's, and returns the
// number of processes.
func agrees(t *testing.T, r *gittest.Repository) int {
	t.Helper()
	repo, err := gitint.Open(t.Context(), gitint.Options{Dir: r.Dir, Env: r.Env})
	if _, wrong := r.Try("rev-parse", "--git-dir"); (err == nil) != (wrong == nil) {
		t.Fatalf("found with %v, git says %v", err, wrong)
	}
	if err != nil {
		return 1 // only git reports that
	}
	newOracle(t, r).location(repo)
	return repo.Processes()
}

// TestPlainRepositories checks that plain repositories are found without a process, where git finds
// them; for all others git is asked.
func TestPlainRepositories(t *testing.T) {
	for _, test := range []struct {
		name  string
		git   []string          // to run
		write map[string]string // files of the repository
		env   []string
		in    string
		asks  bool
	}{
		{name: "plain"},
		{name: "below", in: "b/y"},
		{name: "detached", git: []string{"checkout", "-q", "--detach"}},
		{name: "packed refs", git: []string{"pack-refs", "--all"}},
		{name: "partial", git: []string{"config", "extensions.partialClone", "origin"}},
		{name: "extension that changes nothing", git: []string{"config", "extensions.preciousObjects", "true"}},
		{name: "quotes and comments", write: map[string]string{
			".git/config": "# [core\n[core]\n\trepositoryformatversion = 0\n\tbare=false\n" +
				"; bare = true\n[merge \"core]\"]\n\tdriver = \"x; \\\"[core]\\\" # \\\\\" ; bare\n",
		}},
		{name: "lines as on other systems", write: map[string]string{
			".git/config": "[CORE]\r\n\tRepositoryFormatVersion=0\r\n",
		}},
		{name: "configuration of others", env: []string{
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.bare", "GIT_CONFIG_VALUE_0=true",
		}},
		{name: "included", git: []string{"config", "include.path", "more"}, write: map[string]string{
			".git/more": "[core]\nbare = true\nworktree = /\n[extensions]\nobjectFormat = sha256\n",
		}},
		{name: "ceiling above", env: []string{"GIT_CEILING_DIRECTORIES=/"}},
		{name: "ceiling, from below", env: []string{"GIT_CEILING_DIRECTORIES=/"}, in: "b", asks: true},
		{name: "across file systems", env: []string{"GIT_DISCOVERY_ACROSS_FILESYSTEM=true"}, in: "b/y"},
		{
			name: "across file systems, in another word",
			env:  []string{"GIT_DISCOVERY_ACROSS_FILESYSTEM=perhaps"}, asks: true,
		},
		{name: "variable of a hook", env: []string{"GIT_INDEX_FILE=.git/next-index-1.lock"}},
		{name: "index elsewhere", env: []string{"GIT_INDEX_FILE=other"}, asks: true},
		{name: "unknown variable", env: []string{"GIT_UNHEARD_OF=1"}, asks: true},
		{name: "GIT_DIR", env: []string{"GIT_DIR=.git"}, asks: true},
		{name: "another owner", env: []string{"GIT_TEST_ASSUME_DIFFERENT_OWNER=1"}, asks: true},
		{name: "bare", git: []string{"config", "core.bare", "true"}, asks: true},
		{name: "bare for short", write: map[string]string{
			".git/config": "[core]\nrepositoryformatversion = 0\nbare\n",
		}, asks: true},
		{name: "working tree elsewhere", git: []string{"config", "core.worktree", "../b"}, asks: true},
		{name: "configuration of a working tree", git: []string{"config", "extensions.worktreeConfig", "true"}, asks: true},
		{name: "unknown extension", write: map[string]string{
			".git/config": "[core]\nrepositoryformatversion = 1\n[extensions]\nunheard-of = true\n",
		}, asks: true},
		{name: "unknown extension with a second name", write: map[string]string{
			".git/config": "[core]\nrepositoryformatversion = 1\n[extensions \"unheard\"]\nof = true\n",
		}, asks: true},
		{name: "version to come", git: []string{"config", "core.repositoryFormatVersion", "2"}, asks: true},
		{name: "no version", write: map[string]string{".git/config": ""}, asks: true},
		{name: "next line", write: map[string]string{
			".git/config": "[core]\nrepositoryformatversion = 0\n[x]\ny = \\\n[core]\nbare = \\\ntrue\n",
		}, asks: true},
		{name: "one line", write: map[string]string{
			".git/config": "[core] repositoryformatversion = 0\n[core]bare = true\n",
		}, asks: true},
		{name: "no configuration for git", write: map[string]string{
			".git/config": "[core]\nrepositoryformatversion = 0\n[x]\ny = \"\n",
		}, asks: true},
		{name: "shallow", write: map[string]string{".git/shallow": ""}, asks: true},
		{name: "common directory", write: map[string]string{".git/commondir": "../.git\n"}, asks: true},
		{name: "no HEAD", write: map[string]string{".git/HEAD": "nothing\n"}, asks: true},
		{name: "HEAD of no ref", write: map[string]string{".git/HEAD": "ref: heads/main\n"}, asks: true},
		{name: "looks bare", write: map[string]string{"b/HEAD": "ref: refs/heads/main\n"}, in: "b", asks: true},
		{name: "file", write: map[string]string{"b/.git": "gitdir: ../.git\n"}, in: "b", asks: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := populated(t)
			for name, text := range test.write {
				r.WriteFile(name, text)
			}
			if test.git != nil {
				r.Run(test.git...)
			}
			n := agrees(t, r.In(test.in).With(test.env...))
			if asks := n > 0; asks != test.asks {
				t.Errorf("%d processes, git was asked: %v, want %v", n, asks, test.asks)
			}
		})
	}
}

// TestNotPlainParts checks directories that git does not recognize, and repositories with a part
// elsewhere.
func TestNotPlainParts(t *testing.T) {
	for _, part := range []string{".git/objects", ".git/refs", ".git/HEAD", ".git/config", ".git"} {
		r := populated(t)
		if err := os.Rename(r.Path(part), r.Path("moved")); err != nil {
			t.Fatal(err)
		}
		if n := agrees(t, r); n != 1 {
			t.Errorf("without %s: %d processes", part, n)
		}
	}
	for _, part := range []string{".git/index", ".git"} {
		r := populated(t)
		moved := filepath.Join(gittest.TempDir(t), "moved")
		if err := os.Rename(r.Path(part), moved); err != nil {
			t.Fatal(err)
		}
		symlink(t, moved, r.Path(part))
		if n := agrees(t, r); n != 1 {
			t.Errorf("%s by a link: %d processes", part, n)
		}
	}
}

// TestPropertyPlainConfiguration compares with git: a repository is found as git finds it, whatever
// lines its configuration has.
func TestPropertyPlainConfiguration(t *testing.T) {
	r := populated(t)
	plain := 0
	rapid.Check(t, func(rt *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{
			"[core]", "[Core]", "[core \"x\"]", "[core.x]", "[ core]", "[core", "[extensions]",
			"[extensions \"x\"]", "[x]", "[x \"]\"]", "[x \"a b\"]", "[x \"a\\\"]", "[]", "[x] y = 1",
			"bare = false", "bare = true", "bare", "Bare = False", "bare = false # true",
			"bare = \"false\"", "bare = fal\\", "se", "bare\t=\tfalse", "bare = false\r",
			"repositoryformatversion = 0", "repositoryformatversion=1", "repositoryformatversion = 2",
			"repositoryFormatVersion = \"0\"", "worktree = ..", "noop = true", "preciousObjects = true",
			"partialClone = origin", "objectFormat = sha1", "objectFormat = sha256", "worktreeConfig = true",
			"y = \"a ; b\"", "y = a # \"", "y = \"a", "y = a\\tb", "y = a\\x", "y = \\\\", "y z = 1", "9y = 1",
			"-y = 1", "y_z = 1", "y = ", "=", "# bare = true", "; [x", "", "\t", "y = [core]", "\x00", "ü = 1",
		}), 0, 6).Draw(rt, "lines")
		begin := rapid.SampledFrom([]string{
			"[core]\nrepositoryformatversion = 0\n", "[core]\nrepositoryformatversion = 1\n", "",
		}).Draw(rt, "begin")
		r.WriteFile(".git/config", begin+strings.Join(lines, "\n"))
		repo, err := gitint.Open(rt.Context(), gitint.Options{Dir: r.Dir, Env: r.Env})
		want, wrong := r.Try("rev-parse", "--is-bare-repository", "--show-object-format",
			"--path-format=absolute", "--git-dir", "--show-toplevel")
		switch {
		case err == nil && repo.Root() == "": // for which git shows no top
		case (err == nil) != (wrong == nil):
			rt.Fatalf("found with %v, git says %v", err, wrong)
		case err == nil:
			got := strings.Join([]string{
				map[bool]string{true: "true", false: "false"}[repo.Bare()], repo.ObjectFormat(),
				repo.GitDir(), repo.Root(),
			}, "\n")
			if got != want {
				rt.Fatalf("got\n%s\nwant\n%s", got, want)
			}
			if repo.Processes() == 0 {
				plain++
			}
		}
	})
	if plain == 0 {
		t.Error("none was plain")
	}
}
