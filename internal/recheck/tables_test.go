package recheck_test

import (
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
)

// TestReferredInTables searches roots that are no files, in a repository whose refs are in
// reftables.
func TestReferredInTables(t *testing.T) {
	format := gittest.RefTables(t)
	linked := func(f *fixture) *gittest.Repository {
		f.Run("worktree", "add", "-q", "--detach", "../linked")
		return f.In("../linked")
	}
	for _, tt := range []struct {
		name string
		make func(f *fixture)
		want string // before the move; "" if nothing is found
		past bool   // only in an older commit
	}{
		{"branch", func(f *fixture) {
			f.Run("branch", "other", f.commitFile(stream, text()))
		}, "refs/heads/other, commit ", false},
		{"ORIG_HEAD", func(f *fixture) {
			f.Run("update-ref", "--no-deref", "ORIG_HEAD", f.commitFile(stream, text()))
		}, "ORIG_HEAD, commit ", false},
		{"CHERRY_PICK_HEAD of another", func(f *fixture) {
			linked(f).Run("update-ref", "--no-deref", "CHERRY_PICK_HEAD", f.commitFile(stream, text()))
		}, "CHERRY_PICK_HEAD, commit ", false},
		{"tree of AUTO_MERGE", func(f *fixture) {
			c := f.commitFile(stream, text())
			f.Run("update-ref", "--no-deref", "AUTO_MERGE", c+"^{tree}")
		}, "AUTO_MERGE: ", false},
		{"MERGE_HEAD, which is a file", func(f *fixture) {
			f.WriteFile(".git/MERGE_HEAD", f.commitFile(stream, text())+"\n")
		}, "MERGE_HEAD, commit ", false},
		{"HEAD of another", func(f *fixture) {
			linked(f).Run("update-ref", "--no-deref", "HEAD", f.commitFile(stream, text()))
		}, "HEAD, commit ", false},
		{"older stash", func(f *fixture) {
			for _, content := range []string{text(), "[]"} {
				f.WriteFile(stream, content)
				f.Run("add", stream)
				f.Run("stash", "push", "-q")
			}
		}, "the stash, commit ", false},
		{"reflog of the HEAD of another", func(f *fixture) {
			l := linked(f)
			l.Run("update-ref", "-m", "there", "HEAD", f.commitFile(stream, text()))
			l.Run("update-ref", "-m", "back", "HEAD", "main")
		}, "", true},
		{"before the first entry of a reflog", func(f *fixture) {
			f.Run("-c", "core.logAllRefUpdates=false", "update-ref", "refs/heads/late",
				f.commitFile(stream, text()))
			f.Run("update-ref", "-m", "moved", "refs/heads/late", "main")
		}, "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, format...)
			if got := f.referred(); got != "" {
				t.Fatalf("found before: %s", got)
			}
			tt.make(f)
			got := f.referred()
			if !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("found %q, want %q", got, tt.want)
			}
			if got := f.uncarried(); tt.past && !strings.Contains(got, "history, commit ") {
				t.Errorf("found %q, want it in history", got)
			}
		})
	}
}
