package workspace

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
)

// TestCopiesLeavesOutLeftovers looks for a directory with one file, or with nothing.
func TestCopiesLeavesOutLeftovers(t *testing.T) {
	for file, want := range map[string]int{
		EventsFile: 1, MessagesFile: 1, MetadataFile: 1, BaseConfigFile: 1,
		"QUERY_MESSAGE.md": 0, ".DS_Store": 0, "sub/" + EventsFile: 0,
	} {
		w := newWorld(t)
		w.write(dir1+"/"+file, "{}")
		found, err := w.open().Copies(id1)
		if err != nil || len(found) != want {
			t.Errorf("%s: %v, %v", file, found, err)
		}
		if len(found) == 1 && found[0].Legacy != (file == MessagesFile) {
			t.Errorf("%s: of an old jp is %v", file, found[0].Legacy)
		}
	}
}

// TestCopiesCountsWhatItCannotRead checks that a directory whose files cannot be looked at is not
// taken for one that has none.
func TestCopiesCountsWhatItCannotRead(t *testing.T) {
	if gittest.RanAsUser(t) {
		return
	}
	w := newWorld(t)
	w.conversation(dir1, "first")
	if err := os.Chmod(w.path(dir1), 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(w.path(dir1), 0o755) //nolint:errcheck // so that it can be removed
	found, err := w.open().Copies(id1)
	if err != nil || len(found) != 1 {
		t.Errorf("got %v, %v", found, err)
	}
}

// TestMovesReplaceNothing archives a conversation to a name at which something is. The conversation
// stays as it is, without the time of an archival.
func TestMovesReplaceNothing(t *testing.T) {
	const to = live + ".archive/17800836875-first"
	for _, file := range []string{to, to + "/.DS_Store", to + "/sub/file"} {
		w := newWorld(t)
		w.conversation(dir1, "first")
		w.write(file, "mine")
		before := w.read(dir1 + "/" + MetadataFile)
		if _, err := w.open().Archive(t.Context(), id1); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v", file, err)
		}
		if got := w.read(file); got != "mine" {
			t.Errorf("%s is %q", file, got)
		}
		w.read(dir1 + "/" + EventsFile)
		if got := w.read(dir1 + "/" + MetadataFile); got != before {
			t.Errorf("%s: metadata is %s", file, got)
		}
	}
}
