package workspace

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/atomicfile"
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
	defer os.Chmod(w.path(dir1), 0o755) // so that it can be removed
	found, err := w.open().Copies(id1)
	if err != nil || len(found) != 1 {
		t.Errorf("got %v, %v", found, err)
	}
}

// TestMovesReplaceNothing archives a conversation to a name at which something is. The conversation
// stays as it is, without the time of an archival, which it never gets if git has it.
func TestMovesReplaceNothing(t *testing.T) {
	const to = live + ".archive/17800836875-first"
	for _, file := range []string{to, to + "/.DS_Store", to + "/sub/file"} {
		for _, committed := range []bool{false, true} {
			w := newWorld(t)
			w.env.Committed = func(events.ID) bool { return committed }
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
				t.Errorf("%s, committed %t: metadata is %s", file, committed, got)
			}
		}
	}
}

// TestArchiveWithoutTheUserLocalCopy archives a conversation whose user-local copy cannot follow:
// it is archived, with the time.
func TestArchiveWithoutTheUserLocalCopy(t *testing.T) {
	w := newWorld(t)
	userLocal := w.withUserLocal() + "/conversations/"
	w.conversation(dir1, "first")
	w.conversation(userLocal+"17800836875-first", "first")
	w.write(userLocal+".archive/17800836875-first", "mine")
	e, err := w.open().Archive(t.Context(), id1)
	if !errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) || e.Partition != Archive {
		t.Errorf("%+v, %v", e, err)
	}
	d, err := w.open().LoadDetails(e)
	if err != nil || d.ArchivedAt == nil {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestArchiveThatCannotBeUndone: that the time of a failed archival stayed is reported too.
func TestArchiveThatCannotBeUndone(t *testing.T) {
	w := newWorld(t)
	w.conversation(dir1, "first")
	ws := w.open()
	moves, undoes := errors.New("moves nothing"), errors.New("writes nothing")
	moved := false
	for _, s := range ws.stores() {
		s.hook = func(step atomicfile.Step, name string) error {
			switch {
			case step == atomicfile.StepRename && strings.Contains(name, ".archive"):
				moved = true
				return moves
			case moved:
				return undoes
			}
			return nil
		}
	}
	if _, err := ws.Archive(t.Context(), id1); !errors.Is(err, moves) || !errors.Is(err, undoes) {
		t.Error(err)
	}
}

// TestDamagedIsNotLeft: a conversation that lacks a file, and is not looked for, is not called what
// is left of one.
func TestDamagedIsNotLeft(t *testing.T) {
	w := newWorld(t)
	const dir = live + ".archive/17800836875-first"
	w.conversation(dir, "first")
	if err := os.Remove(w.path(dir + "/" + MetadataFile)); err != nil {
		t.Fatal(err)
	}
	_, err := w.open().Find(id1.Digits(), FindOptions{})
	if none := new(NotFoundError); !errors.As(err, &none) || none.Dir != "" {
		t.Errorf("%+v", err)
	}
}
