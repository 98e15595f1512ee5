package workspace

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
)

func TestArchiveAndBack(t *testing.T) {
	w := newWorld(t)
	userLocal := w.withUserLocal()
	w.conversation(dir1, "first")
	w.conversation(userLocal+"/conversations/17800836875-old-name", "old name")
	ws := w.open()
	e, err := ws.Archive(t.Context(), id1)
	if err != nil || e.Partition != Archive ||
		e.Path != ".jp/conversations/.archive/17800836875-first" {
		t.Fatal(e, err)
	}
	if d, err := ws.LoadDetails(e); err != nil || d.ArchivedAt == nil {
		t.Errorf("details are %+v, %v", d, err)
	}
	got := w.names(userLocal + "/conversations/.archive")
	if !slices.Equal(got, []string{"17800836875-old-name"}) {
		t.Errorf("user-local archive is %v", got)
	}
	if entries, _, err := ws.List(ListOptions{Local: true}); err != nil || len(entries) != 0 {
		t.Errorf("still listed: %v, %v", entries, err)
	}
	before := w.snapshot("proj")
	if again, err := ws.Archive(t.Context(), id1); err != nil || again != e {
		t.Errorf("again: %v, %v", again, err)
	}
	w.unchanged(before, "proj")
	e, err = ws.Unarchive(t.Context(), id1)
	if err != nil || e.Partition != Live || e.Path != ".jp/conversations/17800836875-first" {
		t.Fatal(e, err)
	}
	if got := w.read(dir1 + "/metadata.json"); strings.Contains(got, "archived_at") {
		t.Errorf("metadata is %s", got)
	}
	if got := w.names(userLocal + "/conversations/.archive"); len(got) != 0 {
		t.Errorf("user-local archive is %v", got)
	}
	w.noTrash()
}

func TestRemoveTakesBothCopies(t *testing.T) {
	w := newWorld(t)
	userLocal := w.withUserLocal()
	w.conversation(dir1, "first")
	w.conversation(userLocal+"/conversations/17800836875-first", "first")
	w.conversation(live+"17800836876-other", "other")
	ws := w.open()
	copies, err := ws.Copies(id1)
	if err != nil || len(copies) != 2 || copies[0].Local || !copies[1].Local {
		t.Errorf("copies are %v, %v", copies, err)
	}
	if err := ws.Remove(t.Context(), id1, nil); err != nil {
		t.Fatal(err)
	}
	if got := w.dirs(); !slices.Equal(got, []string{"17800836876-other"}) {
		t.Errorf("left: %v", got)
	}
	if got := w.names(userLocal + "/conversations"); len(got) != 0 {
		t.Errorf("left in the userLocal: %v", got)
	}
	var none *NotFoundError
	if err := ws.Remove(t.Context(), id1, nil); !errors.As(err, &none) {
		t.Errorf("again: %v", err)
	}
	w.noTrash()
}

func TestRemoveAnArchivedOne(t *testing.T) {
	w := newWorld(t)
	w.conversation(live+".archive/17800836875-first", "first")
	ws := w.open()
	if err := ws.Remove(t.Context(), id1, nil); err != nil {
		t.Fatal(err)
	}
	if got := w.names(live + ".archive"); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
}

func TestMovesTakeTheLock(t *testing.T) {
	w := newWorld(t)
	w.conversation(dir1, "first")
	w.env.Settings.LockWait = 0
	ws := w.open()
	unlock := mustLock(t, w.open())
	before := w.snapshot("proj")
	for name, err := range map[string]error{
		"archive":   apart(ws.Archive(t.Context(), id1)),
		"unarchive": apart(ws.Unarchive(t.Context(), id1)),
		"remove":    ws.Remove(t.Context(), id1, nil),
		"rename":    ws.Rename(t.Context(), id1, "x"),
		"update":    ws.Update(t.Context(), id1, appendMessage("x")),
		"details":   ws.UpdateDetails(t.Context(), id1, func(*events.Details) error { return nil }),
	} {
		var held *LockedError
		if !errors.As(err, &held) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.unchanged(before, "proj")
	if err := unlock(); err != nil {
		t.Error(err)
	}
}
