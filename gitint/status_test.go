package gitint_test

import (
	"os"
	"slices"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
)

func TestStagedPaths(t *testing.T) {
	r := gittest.Repo(t)
	repo := openAt(t, r)
	r.WriteFile(".jp/conversations/new\nline", "1")
	r.WriteFile("sub/.jp/conversations/x", "1")
	r.WriteFile("other", "1")
	r.Run("add", "other", ".jp", "sub")
	staged := func(under ...string) (names []string) {
		t.Helper()
		all, err := repo.StagedPaths(t.Context(), under...)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			names = append(names, string(p.Status)+" "+p.Path)
		}
		return names
	}
	expect := func(got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	// There is no commit yet.
	expect(staged(), "A .jp/conversations/new\nline", "A other", "A sub/.jp/conversations/x")
	expect(staged(".jp"), "A .jp/conversations/new\nline")
	expect(staged("**/.jp/conversations"),
		"A .jp/conversations/new\nline", "A sub/.jp/conversations/x")
	r.Run("commit", "-qm", "base")
	expect(staged())
	r.WriteFile("other", "2")
	r.WriteFile("intent", "")
	r.Run("add", "other")
	r.Run("add", "-N", "intent")
	r.Run("mv", "sub", "moved")
	expect(staged(), "A moved/.jp/conversations/x", "M other", "D sub/.jp/conversations/x")
	expect(staged(".jp", "moved"), "A moved/.jp/conversations/x")
}

func TestWorkChanges(t *testing.T) {
	r := conflicted(t)
	r.WriteFile(".gitignore", "ignored\n")
	r.WriteFile("dir/new\nline", "")
	r.WriteFile("ignored", "")
	r.WriteFile("gone", "")
	r.WriteFile("intent", "")
	r.WriteFile("staged", "")
	r.WriteFile("touched", "same")
	r.Run("add", "gone", "staged", "touched")
	r.Run("add", "-N", "intent")
	r.WriteFile("z", "other")
	r.WriteFile("touched", "same")
	if err := os.Remove(r.Path("gone")); err != nil {
		t.Fatal(err)
	}
	before := readIndex(t, r)
	got, err := openAt(t, r).WorkChanges(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(got, func(a, b gitint.WorkPath) int {
		return int(a.State) - int(b.State)
	})
	want := map[string]gitint.WorkState{
		"ignored": gitint.IgnoredNew, ".gitignore": gitint.Untracked,
		"dir/new\nline": gitint.Untracked, "y": gitint.Untracked, "intent": gitint.Intended,
		"gone": gitint.Deleted, "z": gitint.Modified, "x": gitint.Unmerged,
	}
	if len(got) != len(want) {
		t.Errorf("got %q", got)
	}
	for _, p := range got {
		if want[p.Path] != p.State {
			t.Errorf("%q: got %c, want %c", p.Path, p.State, want[p.Path])
		}
	}
	if !slices.Equal(before, readIndex(t, r)) {
		t.Error("the index was refreshed")
	}
}
