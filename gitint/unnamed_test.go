package gitint_test

import (
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
)

// Stashes that a ref, a reflog or a file beside HEAD names are not lost, and a merge is no stash.
func TestUnnamedStashes(t *testing.T) {
	t.Parallel()
	r := gittest.Repo(t)
	r.WriteFile("a", "1\n")
	r.Commit("begin")
	r.Run("checkout", "--quiet", "-b", "side")
	r.Run("commit", "--quiet", "--allow-empty", "-m", "WIP on nothing")
	r.Run("commit", "--quiet", "--allow-empty", "-m", "go on")
	r.Run("checkout", "--quiet", "-")
	r.Run("reflog", "expire", "--expire=all", "--all")
	r.Run("merge", "--quiet", "--no-ff", "-m", "join", "side")
	none := func(when string) {
		t.Helper()
		if all, err := open(t, r).UnnamedStashes(t.Context()); err != nil || len(all) > 0 {
			t.Fatalf("%s: %v, %v; want none", when, all, err)
		}
	}
	none("without a stash")
	r.WriteFile("a", "2\n")
	r.Run("stash", "--quiet")
	none("with a name")
	r.WriteFile("a", "3\n")
	want := r.Run("stash", "create")
	r.Run("update-ref", "refs/x/y", want)
	none("below another ref")
	r.Run("update-ref", "-d", "refs/x/y")
	all, err := open(t, r).UnnamedStashes(t.Context())
	if err != nil || len(all) != 1 || all[0].OID.String() != want || len(all[0].Parents) != 2 {
		t.Fatalf("%v, %v; want %s", all, err, want)
	}
}
