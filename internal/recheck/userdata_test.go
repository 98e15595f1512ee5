package recheck_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/recheck"
)

// TestUserData makes a user-local directory that has the hash, and evidence that it does or does
// not belong to the repository.
func TestUserData(t *testing.T) {
	const id = "generated\nabcde\n"
	for _, tt := range []struct {
		name, dir string
		make      func(f *fixture)
		found     bool
	}{
		{"of nobody", "x-abcde", func(*fixture) {}, false},
		{"id of the working tree", "x-abcde", func(f *fixture) { f.WriteFile(".jp/.id", id) }, true},
		{"id alone", "abcde", func(f *fixture) { f.WriteFile("sub/.jp/.id", id) }, true},
		{"the end of a longer name", "xabcde", func(f *fixture) { f.WriteFile(".jp/.id", id) }, false},
		{"id of another working tree", "x-abcde", func(f *fixture) {
			f.Run("worktree", "add", "-q", "../linked")
			f.WriteFile("../linked/.jp/.id", id)
		}, true},
		{"id of the index", "x-abcde", func(f *fixture) {
			f.WriteFile(".jp/.id", id)
			f.Run("add", ".jp/.id")
			f.Remove(".jp")
		}, true},
		{"id of a branch", "x-abcde", func(f *fixture) {
			f.Run("branch", "other", f.commitFile("a/.jp/.id", id))
		}, true},
		{"id of a branch without .jp", "x-abcde", func(f *fixture) {
			f.Run("branch", "other", f.commitFiles(map[string]string{
				".id": id, "conversations/1-x/events.json": "[]",
			}))
		}, true},
		{"id of a tag, which is no tip", "x-abcde", func(f *fixture) {
			f.Run("tag", "v1", f.commitFile(".jp/.id", id))
		}, false},
		{"link into the working tree", "x-00000", func(f *fixture) {
			f.WriteFile(".jp/x", "")
			f.link(f.Path(".jp"), "../data/x-00000/storage")
		}, true},
		{"relative link", "x-00000", func(f *fixture) {
			f.WriteFile(".jp/x", "")
			f.link("../../repo/.jp", "../data/x-00000/storage")
		}, true},
		{"link that leads nowhere", "x-00000", func(f *fixture) {
			f.link("/nowhere/.jp", "../data/x-00000/storage")
		}, true},
		{"link to another project", "x-00000", func(f *fixture) {
			f.WriteFile("../other/.jp/x", "")
			f.link("../../other/.jp", "../data/x-00000/storage")
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			file := "../data/" + tt.dir + "/conversations/1-x/events.json"
			f.WriteFile(file, text())
			tt.make(f)
			o := f.options()
			o.UserData = f.Path("../data")
			got := f.where(recheck.New(o).Referred(t.Context()))
			if want := filepath.Clean(f.Path(file)); strings.Contains(got, want) != tt.found {
				t.Errorf("found in %q, want %v: %s", got, tt.found, want)
			}
		})
	}
}
