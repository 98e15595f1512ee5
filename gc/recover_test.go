package gc_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gc"
)

var errKilled = errors.New("killed")

// leaveOpen ends a collection at its nth step of a kind, as if it were killed.
func (f *fixture) leaveOpen(kind gc.Step) {
	f.tb.Helper()
	dead := false
	f.hook = func(s gc.Step, _ string) error {
		if dead = dead || s == kind; dead {
			return errKilled
		}
		return nil
	}
	if _, err := f.collect(); !errors.Is(err, errKilled) {
		f.tb.Fatalf("it was not killed: %v", err)
	}
	f.hook = nil
}

// onlyTagged makes a content that only a tag refers to, which has the blob, as the index does.
func (f *fixture) onlyTagged(h blobs.Hash) {
	f.tb.Helper()
	f.converse(conversation, h)
	f.Run("add", "--force", ".jp/conversations", ".jp/blobs/"+h.Path())
	f.Run("commit", "-q", "-m", "with it")
	f.Run("tag", "v1")
	f.Run("rm", "-rq", conversation)
	f.Run("commit", "-q", "-m", "without the conversation")
}

// TestARunThatHadNotReachedTheIndex checks a run that git can overtake: a checkout after the crash
// refers to content whose missing file git takes for a change by the user, so that it writes none.
// Removing the entry from the index would then lose the content.
func TestARunThatHadNotReachedTheIndex(t *testing.T) {
	f := newFixture(t)
	h, loose := f.blob("tracked"), f.blob("not tracked")
	f.onlyTagged(h)
	f.leaveOpen(gc.StepIndex)
	if f.has(h) || f.has(loose) || !gc.IsOpen(f.Path(".jp")) {
		t.Fatal("the run is not as it was meant to be")
	}
	f.Run("checkout", "-q", "v1")
	if done, err := gc.Recover(t.Context(), f.options()); !done || err != nil {
		t.Fatalf("recovered %v, %v", done, err)
	}
	f.holdsTracked(h)
	if f.has(loose) {
		t.Error("what was collected came back")
	}
	if gc.IsOpen(f.Path(".jp")) {
		t.Error("the run is still open")
	}
	f.Run("checkout", "-q", "main")
	if _, err := f.collect(); err != nil || f.has(h) {
		t.Errorf("it is not collected again: %v", err)
	}
}

// holdsTracked checks that a content is in the store and in the index.
func (f *fixture) holdsTracked(h blobs.Hash) {
	f.tb.Helper()
	if !f.has(h) {
		f.tb.Errorf("%s is not in the store", h)
	}
	if f.Run("ls-files", ".jp/blobs/"+h.Path()) == "" {
		f.tb.Errorf("%s is not in the index", h)
	}
}

// TestARunThatHadChangedTheIndex was killed before it could record that: the run is complete.
func TestARunThatHadChangedTheIndex(t *testing.T) {
	f := newFixture(t)
	h := f.blob("tracked")
	f.Run("add", "--force", ".jp/blobs/"+h.Path())
	f.Run("commit", "-q", "-m", "x")
	f.leaveOpen(gc.StepIndex)
	f.Run("update-index", "--force-remove", ".jp/blobs/"+h.Path())
	if done, err := gc.Recover(t.Context(), f.options()); !done || err != nil {
		t.Fatalf("recovered %v, %v", done, err)
	}
	if f.has(h) || gc.IsOpen(f.Path(".jp")) {
		t.Error("it is not done")
	}
	if _, err := gc.Undo(t.Context(), f.options(), ""); err != nil {
		t.Fatal(err)
	}
	f.holdsTracked(h)
}

// TestALaterVersionsRunStaysOpen checks that an unfinished run which another version began, or whose
// state is one of another version, stays marked: that version finds it, and nothing is deleted.
func TestALaterVersionsRunStaysOpen(t *testing.T) {
	for was, is := range map[string]string{
		`"version":1`: `"version":2`, `"state":"`: `"state":"later `,
	} {
		f := newFixture(t)
		h := f.blob("tracked")
		f.onlyTagged(h)
		f.leaveOpen(gc.StepIndex)
		found, err := filepath.Glob(f.Path(".git/jp/trash/*/run.json"))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		data, err := os.ReadFile(found[0])
		if err != nil || !bytes.Contains(data, []byte(was)) {
			t.Fatalf("%s, %v", data, err)
		}
		later := bytes.Replace(data, []byte(was), []byte(is), 1)
		if err := os.WriteFile(found[0], later, 0o600); err != nil {
			t.Fatal(err)
		}
		refused := new(gc.RefusedError)
		if _, err := gc.Recover(t.Context(), f.options()); !errors.As(err, &refused) {
			t.Errorf("recovered: %v", err)
		}
		f.blob("another")
		if _, err := f.collect(); !errors.As(err, &refused) || !refused.Has(gc.ReasonForeign) {
			t.Errorf("collected: %v", err)
		}
		if _, err := gc.Undo(t.Context(), f.options(), ""); !errors.As(err, &refused) {
			t.Errorf("undone: %v", err)
		}
		if !gc.IsOpen(f.Path(".jp")) {
			t.Error("the run is forgotten")
		}
		if err := os.Remove(f.Path(".jp/blobs/.tmp/gc.open")); err != nil {
			t.Fatal(err)
		}
		_, err = gc.Undo(t.Context(), f.options(), "")
		if err == nil || errors.Is(err, gc.ErrNoRun) {
			t.Errorf("undone although it is done: %v", err)
		}
		for name, data := range map[string][]byte{
			found[0]: data, f.Path(".jp/blobs/.tmp/gc.open"): []byte(filepath.Dir(found[0]) + "\n"),
		} {
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if done, err := gc.Recover(t.Context(), f.options()); !done || err != nil || !f.has(h) {
			t.Errorf("its version recovers: %v, %v", done, err)
		}
	}
}

// TestTheIndexMovesOn checks out a commit that refers to a blob after the second mark, before its
// entry is removed from the index.
func TestTheIndexMovesOn(t *testing.T) {
	f := newFixture(t)
	h, loose := f.blob("tracked"), f.blob("not tracked")
	f.onlyTagged(h)
	f.hook = func(s gc.Step, _ string) error {
		if s == gc.StepIndex {
			f.Run("checkout", "-q", "v1")
		}
		return nil
	}
	res, err := f.collect()
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Moved) != 1 || res.Moved[0].Hash != loose || res.Returned != 1 {
		t.Errorf("moved %v, returned %d", res.Moved, res.Returned)
	}
	f.holdsTracked(h)
	if f.has(loose) || gc.IsOpen(f.Path(".jp")) {
		t.Error("the run is not done")
	}
}

// TestTwoRunsInOneInstant checks that two runs at the same time keep their own blobs.
func TestTwoRunsInOneInstant(t *testing.T) {
	f := newFixture(t)
	one := f.blob("one")
	if _, err := f.collect(); err != nil {
		t.Fatal(err)
	}
	two := f.blob("two")
	if _, err := f.collect(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := gc.Undo(t.Context(), f.options(), ""); err != nil {
			t.Error(err)
		}
	}
	if !f.has(one) || !f.has(two) {
		t.Errorf("back are one %v, two %v", f.has(one), f.has(two))
	}
}
