package gc_test

import (
	"os"
	"path"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/gitint"
)

// TestForeignFilesAreNotForgotten collects where a commit had something beside blobs. A check goes
// by what a collection has recorded of directories, so it is not recorded that one has only blobs.
func TestForeignFilesAreNotForgotten(t *testing.T) {
	for _, at := range []string{"board", "fan-out", "link"} {
		f := newFixture(t)
		f.withCache()
		h := f.blob("content")
		f.converse(conversation, h)
		dir := path.Dir(".jp/blobs/" + h.Path())
		file := dir + "/foreign"
		switch at {
		case "fan-out":
			file = path.Dir(dir) + "/foreign"
		case "link":
			file = dir + "/" + strings.Repeat("0", len(h.String())-len("0000")) + ".blob.gz"
		}
		f.WriteFile(file, "not a blob")
		if at == "link" {
			f.Remove(file)
			if err := os.Symlink("foreign", f.Path(file)); err != nil {
				t.Fatal(err)
			}
		}
		f.Commit("foreign")
		f.Remove(file)
		f.Commit("only blobs")
		f.Run("branch", "foreign", "HEAD~1") // the stores of tips are read
		f.blob("nothing refers to this")
		if _, err := gc.MakePlan(t.Context(), f.options()); err != nil {
			t.Fatal(err)
		}
		for rev, want := range map[string]bool{"HEAD~1": false, "HEAD": true} {
			id, err := gitint.ParseOID(f.Run("rev-parse", rev+":"+path.Dir(dir)))
			if err != nil {
				t.Fatal(err)
			}
			if _, known := f.cache.Blobs().Of(id); known != want {
				t.Errorf("%s: the blobs in %s are recorded: %v", at, rev, known)
			}
		}
	}
}
