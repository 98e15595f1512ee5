package gc_test

import (
	"os"
	"testing"

	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/internal/gittest"
)

// closed removes all permissions from a file or a directory until the test ends.
func (f *fixture) closed(name string) {
	f.tb.Helper()
	info, err := os.Lstat(f.Path(name))
	if err == nil {
		err = os.Chmod(f.Path(name), 0)
	}
	if err != nil {
		f.tb.Fatal(err)
	}
	f.tb.Cleanup(func() { _ = os.Chmod(f.Path(name), info.Mode()) })
}

// TestRefusalsWithoutPermission removes permissions from files that the collector must read.
func TestRefusalsWithoutPermission(t *testing.T) {
	if gittest.RanAsUser(t) {
		return
	}
	for _, tt := range []struct {
		name string
		make func(f *fixture)
	}{
		{"directory of a conversation", func(f *fixture) {
			f.converse(conversation)
			f.closed(conversation)
		}},
		{"stream of another user", func(f *fixture) {
			f.converse(conversation)
			f.closed(conversation + "/events.json")
		}},
		{"copy beside a stream", func(f *fixture) {
			f.WriteFile(conversation+"/events.json.orig", "")
			f.closed(conversation + "/events.json.orig")
		}},
		{"reflog", func(f *fixture) { f.closed(".git/logs/HEAD") }},
		{"what was quarantined", func(f *fixture) {
			f.WriteFile(".git/jp/trash/repair-1/events.json", "")
			f.closed(".git/jp/trash/repair-1/events.json")
		}},
		{"journal of what may be a run", func(f *fixture) {
			f.WriteFile(".git/jp/trash/1/run.json", "")
			f.closed(".git/jp/trash/1/run.json")
		}},
		{"directory elsewhere", func(f *fixture) {
			f.WriteFile("closed/x", "")
			f.closed("closed")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			newFixture(t).refuses(tt.make, gc.ReasonFiles, "permission denied")
		})
	}
}
