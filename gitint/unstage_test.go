package gitint_test

import (
	"slices"
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
)

func TestUnstage(t *testing.T) {
	r := committed(t, map[string]string{"changed": "1", "gone": "1", "same": "1", "other": "1"})
	r.WriteFile("changed", "2")
	r.WriteFile("new\nline", "2")
	r.WriteFile("other", "2")
	r.Remove("gone")
	r.Run("add", "-A")
	got, err := openAt(t, r).Unstage(t.Context(),
		[]string{"changed", "gone", "same", "new\nline", "never"})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"changed", "gone", "new\nline"}; !slices.Equal(got, want) {
		t.Errorf("unstaged %q, want %q", got, want)
	}
	status := r.Run("status", "--porcelain", "-z")
	if want := " M changed\x00 D gone\x00M  other\x00?? new\nline\x00"; status != want {
		t.Errorf("status %q, want %q", status, want)
	}
	assertNoLeftovers(t, r)
}

func TestUnstageWithoutACommit(t *testing.T) {
	r := gittest.Repo(t)
	r.WriteFile("a", "1")
	r.WriteFile("b", "1")
	r.Run("add", ".")
	if _, err := openAt(t, r).Unstage(t.Context(), []string{"a"}); err != nil {
		t.Fatal(err)
	}
	if got := r.Run("status", "--porcelain"); got != "A  b\n?? a" {
		t.Errorf("status %q", got)
	}
}

func TestUnstageConflicts(t *testing.T) {
	r := conflicted(t)
	if _, err := openAt(t, r).Unstage(t.Context(), []string{"x"}); err != nil {
		t.Fatal(err)
	}
	if got := r.Run("status", "--porcelain"); got != " M x\n?? y" {
		t.Errorf("status %q", got)
	}
}
