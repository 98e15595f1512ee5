package gitint_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
)

func showRepo(t *testing.T) (*gittest.Repository, *gitint.Repo) {
	t.Helper()
	r := gittest.Repo(t)
	// A configuration that would start programs and change every format.
	for _, kv := range [][2]string{
		{"diff.external", "false"},
		{"diff.noprefix", "true"},
		{"color.ui", "always"},
		{"diff.t.textconv", "false"},
		{"core.fsmonitor", filepath.Join(r.Dir, "never")},
		{"log.showSignature", "true"},
		{"log.showRoot", "false"},
		{"core.pager", "false"},
	} {
		r.Run("config", kv[0], kv[1])
	}
	write(t, r, ".gitattributes", "*.txt diff=t\n")
	write(t, r, ".gitignore", "target/\n")
	write(t, r, "a.txt", "one\ntwo\n")
	write(t, r, "dir/ü b.txt", "x\n")
	r.Commit("first: Ä\n\nThe body\nof it.")
	write(t, r, "a.txt", "one\nthree\n")
	write(t, r, "bin", "\x00\x01")
	r.Commit("second")
	repo, err := gitint.Open(t.Context(), gitint.Options{Dir: r.Dir, Env: r.Env})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { repo.Close() })
	return r, repo
}

func TestDiff(t *testing.T) {
	r, repo := showRepo(t)
	write(t, r, "a.txt", "one\nstaged\n")
	write(t, r, "dir/ü b.txt", "y\n")
	r.Run("add", "a.txt")
	write(t, r, "a.txt", "one\nworking\n")
	tests := []struct {
		name        string
		d           gitint.DiffRequest
		has, hasNot []string
	}{
		{"unstaged", gitint.DiffRequest{}, []string{"--- a/a.txt", "-staged", "+working", "dir/ü b.txt"}, nil},
		{"staged", gitint.DiffRequest{Staged: true}, []string{"-three", "+staged"}, []string{"+working", "ü"}},
		{"path", gitint.DiffRequest{Paths: []string{"dir"}}, []string{"+y"}, []string{"a/a.txt"}},
		{"exclude", gitint.DiffRequest{Exclude: []string{"dir"}}, []string{"+working"}, []string{"+y"}},
	}
	for _, tt := range tests {
		out, cut, err := repo.Diff(t.Context(), tt.d, 1<<20)
		if err != nil || cut {
			t.Fatalf("%s: %v", tt.name, err)
		}
		for _, s := range tt.has {
			if !strings.Contains(string(out), s) {
				t.Errorf("%s: no %q in\n%s", tt.name, s, out)
			}
		}
		for _, s := range tt.hasNot {
			if strings.Contains(string(out), s) {
				t.Errorf("%s: %q in\n%s", tt.name, s, out)
			}
		}
	}
	out, cut, err := repo.Diff(t.Context(), gitint.DiffRequest{}, 40)
	if err != nil || !cut || len(out) > 40 || !strings.HasSuffix(string(out), "\n") {
		t.Errorf("cut: %q, %t (%v)", out, cut, err)
	}
}

func TestLog(t *testing.T) {
	_, repo := showRepo(t)
	tests := []struct {
		name string
		l    gitint.LogRequest
		want string
	}{
		{"all", gitint.LogRequest{Count: 9}, "second|first: Ä"},
		{"count", gitint.LogRequest{Count: 1}, "second"},
		{"message", gitint.LogRequest{Count: 9, Query: "body"}, "first: Ä"},
		{"no pattern", gitint.LogRequest{Count: 9, Query: "b.dy"}, ""},
		{"content", gitint.LogRequest{Count: 9, Content: "three"}, "second"},
		{"regexp", gitint.LogRequest{Count: 9, Content: "^t(wo|hree)$", Regexp: true}, "second|first: Ä"},
		{"paths", gitint.LogRequest{Count: 9, Paths: []string{"dir"}}, "first: Ä"},
		{"an option as query", gitint.LogRequest{Count: 9, Query: "--output=x"}, ""},
		{"since", gitint.LogRequest{Count: 9, Since: "2030-01-01"}, ""},
	}
	for _, tt := range tests {
		es, err := repo.Log(t.Context(), tt.l)
		var got []string
		for _, e := range es {
			got = append(got, e.Subject)
			if e.Author != "Ada" || !strings.HasPrefix(e.Date, "2026-01-02T03:") {
				t.Errorf("%s: %+v", tt.name, e)
			}
		}
		if err != nil || strings.Join(got, "|") != tt.want {
			t.Errorf("%s: %q (%v), want %q", tt.name, got, err, tt.want)
		}
	}
}

func TestShow(t *testing.T) {
	_, repo := showRepo(t)
	c, err := repo.Show(t.Context(), "HEAD~1")
	if err != nil || c.Message != "first: Ä\n\nThe body\nof it." || c.Subject != "first: Ä" {
		t.Errorf("%+v (%v)", c, err)
	}
	want := []gitint.FileStat{
		{Path: ".gitattributes", Added: 1},
		{Path: ".gitignore", Added: 1},
		{Path: "a.txt", Added: 2},
		{Path: "dir/ü b.txt", Added: 1},
	}
	if !slices.Equal(c.Files, want) {
		t.Errorf("files of a root: %+v", c.Files)
	}
	c, err = repo.Show(t.Context(), "HEAD")
	want = []gitint.FileStat{{Path: "a.txt", Added: 1, Deleted: 1}, {Path: "bin", Added: -1, Deleted: -1}}
	if err != nil || !slices.Equal(c.Files, want) {
		t.Errorf("%+v (%v)", c.Files, err)
	}
	for _, rev := range []string{"nope", "--all", "-p", ""} {
		if _, err := repo.Show(t.Context(), rev); !errors.Is(err, gitint.ErrUnknownRevision) {
			t.Errorf("%q: %v", rev, err)
		}
	}
}

func TestFilesAreThoseThatCount(t *testing.T) {
	r, repo := showRepo(t)
	write(t, r, "target/out", "")
	write(t, r, "new.txt", "")
	got, err := repo.Files(t.Context())
	want := []string{".gitattributes", ".gitignore", "a.txt", "bin", "dir/ü b.txt", "new.txt"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q (%v)", got, err)
	}
	if got, err = repo.Files(t.Context(), "dir"); err != nil || !slices.Equal(got, want[4:5]) {
		t.Errorf("%q (%v)", got, err)
	}
}

func TestShowWithoutACommit(t *testing.T) {
	r := gittest.Repo(t)
	write(t, r, "a", "x\n")
	r.Run("add", "a")
	repo, err := gitint.Open(t.Context(), gitint.Options{Dir: r.Dir, Env: r.Env})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	if es, err := repo.Log(t.Context(), gitint.LogRequest{Count: 9}); err != nil || es != nil {
		t.Errorf("%+v (%v)", es, err)
	}
	out, _, err := repo.Diff(t.Context(), gitint.DiffRequest{Staged: true}, 1<<20)
	if err != nil || !strings.Contains(string(out), "+x") {
		t.Errorf("%s (%v)", out, err)
	}
}
