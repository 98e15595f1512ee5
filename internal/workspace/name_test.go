package workspace

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"testing"

	"github.com/git-jp/git-jp/internal/regular"
)

func TestFindByName(t *testing.T) {
	w := newWorld(t)
	w.vars["JP_SESSION"] = "s"
	w.conversation(live+"17800000001-fix-the-parser", "Fix the Parser")
	w.conversation(live+"17800000012-parser-speed", "Parser speed")
	w.conversation(live+"17900000000", "")
	w.conversation(live+".archive/18000000000-old", "Old parser")
	w.env.Dir = w.path(live + "17800000012-parser-speed/sub")
	w.write(live+"17800000012-parser-speed/sub/x", "")
	ws := w.open()
	s, _ := SessionOf(w.env)
	for _, id := range []int64{17900000000, 17800000001} {
		if err := ws.Activate(s, ent(t, ws, id).ID); err != nil {
			t.Fatal(err)
		}
	}
	for arg, want := range map[string]string{
		"jp-c17800000001": "17800000001", "jp-c17800000001-otvo8": "17800000001",
		"17800000001": "17800000001", "178000000012": "", "1780000001": "17800000012",
		"179":     "17900000000",
		"jp-c179": "17900000000", "fix": "17800000001", "PARSER fix": "17800000001",
		"speed": "17800000012", "speed fix": "", "": "", "  ": "", "old": "", "180": "",
		"17800000001-any-slug": "17800000001", "x/y": "",
		".": "17800000001", "-": "17900000000",
		"..": "", "../": "17800000012", "./": "17800000012", "../events.json": "17800000012",
		w.path(live + "17900000000/events.json"):      "17900000000",
		w.path(live + "17900000000-gone"):             "17900000000",
		w.path(live + ".archive/18000000000-old"):     "",
		w.path("proj/.jp/conversations"):              "",
		"../../17800000001-fix-the-parser/notes/x.md": "17800000001",
	} {
		e, err := ws.Find(arg, FindOptions{Session: &s})
		var none *NotFoundError
		switch {
		case want == "" && !errors.As(err, &none):
			t.Errorf("%q: %v, %v", arg, e.Path, err)
		case want != "" && (err != nil || e.ID.Digits() != want):
			t.Errorf("%q: %v, %v", arg, e.Path, err)
		}
	}
	e, err := ws.Find("old", FindOptions{ListOptions: ListOptions{Archived: true}})
	if err != nil || e.Partition != Archive {
		t.Errorf("archived: %v, %v", e, err)
	}
	for arg, n := range map[string]int{"parser": 2, "1780": 2, "17": 3} {
		_, err := ws.Find(arg, FindOptions{})
		var many *AmbiguousError
		if !errors.As(err, &many) || len(many.Candidates) != n ||
			many.Candidates[0].Title != "Fix the Parser" {
			t.Errorf("%q: %v", arg, err)
		}
	}
}

func ent(t *testing.T, ws *Workspace, id int64) Entry {
	t.Helper()
	entries, _, err := ws.List(ListOptions{Archived: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if int64(e.ID) == id {
			return e
		}
	}
	t.Fatalf("no %d", id)
	return Entry{}
}

func TestFindByPathThroughALink(t *testing.T) {
	w := newWorld(t)
	w.conversation(dir1, "first")
	if err := os.Symlink(w.root, w.path("link")); err != nil {
		t.Skip(err)
	}
	ws := w.open()
	e, err := ws.Find(w.path("link/.jp/conversations/17800836875-first"), FindOptions{})
	if err != nil || e.ID != id1 {
		t.Errorf("%v, %v", e, err)
	}
}

func TestAWholeTitleIsNotAmbiguous(t *testing.T) {
	w := newWorld(t)
	w.conversation(live+"17800000001-index", "The  Index")
	w.conversation(live+"17800000002-index-lock", "The index lock")
	ws := w.open()
	e, err := ws.Find("the index", FindOptions{})
	if err != nil || e.ID.Digits() != "17800000001" {
		t.Errorf("%v, %v", e, err)
	}
	var many *AmbiguousError
	if _, err := ws.Find("index", FindOptions{}); !errors.As(err, &many) {
		t.Errorf("words in both: %v", err)
	}
}

// TestFindOpensOneDirectory: a conversation is found by its id without opening any other.
func TestFindOpensOneDirectory(t *testing.T) {
	w := newWorld(t)
	w.conversation(live+"17800000001-one", "One")
	w.conversation(live+"17800000002-two", "Two")
	w.conversation(live+".archive/17800000003-three", "Three")
	ws := w.open()
	listed := &listedFS{RootFS: ws.main.fsys.(regular.RootFS)}
	ws.main.fsys = listed
	if _, err := ws.Find("17800000002", FindOptions{}); err != nil {
		t.Fatal(err)
	}
	want := []string{"conversations", "conversations/17800000002-two", "conversations/.archive"}
	if !slices.Equal(listed.dirs, want) {
		t.Errorf("listed %q, want %q", listed.dirs, want)
	}
}

// A listedFS notes the directories that are listed.
type listedFS struct {
	regular.RootFS

	dirs []string
}

func (l *listedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	l.dirs = append(l.dirs, name)
	return l.RootFS.ReadDir(name)
}
