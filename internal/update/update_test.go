package update_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/update"
)

func open(t *testing.T, r *gittest.Repository) *gitint.Repo {
	t.Helper()
	repo, err := gitint.Open(t.Context(), gitint.Options{Dir: r.Dir, Env: r.Env})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { repo.Close() })
	return repo
}

func committed(t *testing.T) *gittest.Repository {
	t.Helper()
	return gittest.Template(t, "committed", func(r *gittest.Repository) {
		r.WriteFile("readme", "x\n")
		r.Commit("one")
	})
}

// TestCurrent tests where a branch is pushed to: where its configuration says, else to origin, or
// to the only remote.
func TestCurrent(t *testing.T) {
	for name, tt := range map[string]struct {
		before [][]string
		want   update.Branch
	}{
		"no remote":  {nil, update.Branch{Remote: "origin", RemRef: "refs/heads/main"}},
		"one remote": {[][]string{{"remote", "add", "up", "u"}}, update.Branch{Remote: "up", RemRef: "refs/heads/main"}},
		"two remotes": {
			[][]string{{"remote", "add", "up", "u"}, {"remote", "add", "fork", "f"}},
			update.Branch{Remote: "origin", RemRef: "refs/heads/main"},
		},
		"origin among others": {
			[][]string{{"remote", "add", "up", "u"}, {"remote", "add", "origin", "o"}},
			update.Branch{Remote: "origin", RemRef: "refs/heads/main"},
		},
		"configured": {
			[][]string{
				{"remote", "add", "origin", "o"},
				{"config", "branch.main.remote", "up"},
				{"config", "branch.main.merge", "refs/heads/other"},
			},
			update.Branch{Remote: "up", RemRef: "refs/heads/other"},
		},
		"a remote without a ref": {
			[][]string{{"config", "branch.main.remote", "up"}},
			update.Branch{Remote: "up", RemRef: "refs/heads/main"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := committed(t)
			for _, args := range tt.before {
				r.Run(args...)
			}
			tt.want.Ref, tt.want.Name = "refs/heads/main", "main"
			if got, err := update.Current(t.Context(), open(t, r)); err != nil || got != tt.want {
				t.Errorf("got %+v, %v, want %+v", got, err, tt.want)
			}
		})
	}
}

// TestCurrentWithoutABranch: a merge into HEAD alone would be lost with the next checkout.
func TestCurrentWithoutABranch(t *testing.T) {
	detached := committed(t)
	detached.Run("checkout", "-q", "--detach")
	for want, r := range map[string]*gittest.Repository{
		"HEAD is detached: no branch is checked out":  detached,
		`branch "main" does not have any commits yet`: gittest.Repo(t),
	} {
		if _, err := update.Current(t.Context(), open(t, r)); err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestDefaultBase verifies that jp.base counts before the default branch of the remote.
func TestDefaultBase(t *testing.T) {
	r := committed(t)
	base := func(remote string) (string, error) {
		return update.DefaultBase(t.Context(), open(t, r), remote)
	}
	_, err := base("up")
	if e, ok := errors.AsType[*update.NoBaseError](err); !ok || e.Remote != "up" {
		t.Errorf("without any: got %v, want an error that names up", err)
	}
	r.Run("update-ref", "refs/remotes/up/trunk", "HEAD")
	r.Run("symbolic-ref", "refs/remotes/up/HEAD", "refs/remotes/up/trunk")
	if got, err := base("up"); got != "up/HEAD" || err != nil {
		t.Errorf("with a default branch: got %q, %v, want up/HEAD", got, err)
	}
	if got, err := base("origin"); err == nil {
		t.Errorf("of another remote: got %q, want an error", got)
	}
	r.Run("config", "jp.base", "next")
	_, err = base("up")
	if e, ok := errors.AsType[*gitint.ConfigError](err); !ok || e.Key != "jp.base" {
		t.Errorf("with jp.base, which is missing: got %v, want an error that names it", err)
	}
	r.Run("branch", "next")
	if got, err := base("up"); got != "next" || err != nil {
		t.Errorf("with jp.base: got %q, %v, want next", got, err)
	}
	repo := open(t, r)
	r.WriteFile(".git/config", "[jp\n")
	_, err = update.DefaultBase(t.Context(), repo, "up")
	if _, ok := errors.AsType[*gitint.ExitError](err); !ok {
		t.Errorf("with a damaged configuration: got %v, want the error of git", err)
	}
}

// TestReady tests what is refused before anything is merged.
func TestReady(t *testing.T) {
	const refused, drift = "refused", "drift"
	for name, tt := range map[string]struct {
		before func(r *gittest.Repository)
		kind   string
		says   string
	}{
		"nothing in the way": {before: func(*gittest.Repository) {}},
		"an untracked file":  {before: func(r *gittest.Repository) { r.WriteFile("new", "x") }},
		"a changed file": {
			func(r *gittest.Repository) { r.WriteFile("readme", "y\n") },
			refused, "tracked files have changes",
		},
		"a staged file": {
			func(r *gittest.Repository) { r.WriteFile("new", "x"); r.Run("add", "new") },
			refused, "tracked files have changes",
		},
		"an open merge": {
			func(r *gittest.Repository) {
				r.WriteFile(".git/MERGE_HEAD", r.Run("rev-parse", "HEAD")+"\n")
			},
			refused, "a merge is not committed",
		},
		"a driver that nobody registered": {
			func(r *gittest.Repository) {
				r.WriteFile(".git/info/attributes", ".jp/**/events.json merge=jp-events\n")
			},
			drift, "git would merge line by line",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := committed(t)
			tt.before(r)
			o := update.Options{Repo: open(t, r), Dirs: []string{".jp"}}
			err := o.Ready(t.Context())
			kind := ""
			if _, ok := errors.AsType[*update.RefusedError](err); ok {
				kind = refused
			} else if _, ok := errors.AsType[*update.DriftError](err); ok {
				kind = drift
			}
			if kind != tt.kind || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v (%q), want %q that says %q", err, kind, tt.kind, tt.says)
			}
		})
	}
}
