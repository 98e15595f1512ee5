package gitint_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
)

// TestBlame asks for lines of two commits, one of them after a rename, and for an uncommitted one.
func TestBlame(t *testing.T) {
	r := gittest.Repo(t)
	r.WriteFile("old name", "one\ntwo\nthree\nfour\nfive\n")
	r.Commit("first")
	r.Run("mv", "old name", "näme")
	r.WriteFile("näme", "one\nTWO\nthree\nfour\nfive\n")
	r.Commit("second")
	r.WriteFile("näme", "one\nTWO\nthree\nfour\nfive\nsix\n")
	repo := open(t, r)
	all, err := repo.Blame(t.Context(), "", "näme", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	type line struct{ text, summary, path string }
	want := []line{
		{"one", "first", "old name"},
		{"TWO", "second", "näme"},
		{"three", "first", "old name"},
		{"four", "first", "old name"},
		{"five", "first", "old name"},
		{"six", "", "näme"},
	}
	if len(all) != len(want) {
		t.Fatalf("%d lines, want %d", len(all), len(want))
	}
	for i, l := range all {
		if i < 5 && (line{l.Text, l.Summary, l.Path}) != want[i] || l.Number != i+1 {
			t.Errorf("line %d is %+v, want %+v", i+1, l, want[i])
		}
	}
	if !all[5].Commit.IsZero() || all[0].Commit.IsZero() || all[0].At.IsZero() {
		t.Errorf("the commits are %v and %v", all[0].Commit, all[5].Commit)
	}
	if all, err = repo.Blame(t.Context(), "HEAD~1", "old name", 2, 3); err != nil || len(all) != 2 ||
		all[0].Text != "two" || all[0].Number != 2 {
		t.Errorf("got %+v, %v", all, err)
	}
	for _, rev := range []string{"", "HEAD"} {
		_, err := repo.Blame(t.Context(), rev, "nothing", 1, 1)
		if !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "fatal") {
			t.Errorf("in %q a file that is not there gives %v", rev, err)
		}
	}
	if err := os.WriteFile(filepath.Join(repo.Root(), "untracked"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = repo.Blame(t.Context(), "", "untracked", 0, 0)
	if !errors.Is(err, fs.ErrNotExist) || err.Error() != "blame untracked: not in HEAD" {
		t.Errorf("an untracked file gives %v", err)
	}
	r.Run("rm", "-q", "-f", "näme")
	if _, err := repo.Blame(t.Context(), "", "näme", 0, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that was deleted gives %v", err)
	}
	if _, err := repo.Blame(t.Context(), "", "a\x00b", 0, 0); !errors.Is(err, gitint.ErrZeroByte) {
		t.Errorf("a name with a zero byte gives %v", err)
	}
}

// TestParent asks for the parents of commits, also in a shallow clone.
func TestParent(t *testing.T) {
	r := gittest.Repo(t)
	r.WriteFile("a", "one\n")
	r.Commit("first")
	r.WriteFile("a", "two\n")
	r.Commit("second")
	cut := gittest.Repo(t)
	cut.Run("fetch", "-q", "--depth=1", "file://"+r.Dir, "HEAD:refs/heads/cut")
	for name, c := range map[string]struct {
		in     *gittest.Repository
		rev    string
		parent string // "" for none
		cut    bool
	}{
		"second": {r, "HEAD", "HEAD~1", false},
		"first":  {r, "HEAD~1", "", false},
		"cut":    {cut, "cut", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			repo := open(t, c.in)
			id, err := repo.Resolve(t.Context(), c.rev)
			if err != nil {
				t.Fatal(err)
			}
			parent, isCut, err := repo.Parent(t.Context(), id)
			if err != nil || isCut != c.cut || parent.IsZero() != (c.parent == "") {
				t.Fatalf("got %s, cut %v, %v", parent, isCut, err)
			}
			if want, err := repo.Resolve(t.Context(), c.parent); c.parent != "" && want != parent {
				t.Errorf("got %s, want %s, %v", parent, want, err)
			}
		})
	}
}
