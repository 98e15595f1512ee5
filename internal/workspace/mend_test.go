package workspace

import (
	"errors"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
)

// TestReplaceRefusesNewReferencesToNothing checks that new dangling references in an edited file
// are always refused.
func TestReplaceRefusesNewReferencesToNothing(t *testing.T) {
	w := newWorld(t)
	w.conversation(dir1, "first")
	ws := w.open()
	if err := ws.Update(t.Context(), id1, func(c *Conversation) error {
		c.Stream.Append(withResult("there")...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	before := w.read(dir1 + "/events.json")
	nowhere := blobs.RefTo([]byte("nowhere")).Hash.String()
	after := strings.Replace(before, blobs.RefTo([]byte("there")).Hash.String(), nowhere, 1)
	if after == before {
		t.Fatal("there is no reference to replace")
	}
	err := ws.Replace(t.Context(), id1, Replacement{
		Name: EventsFile, Before: []byte(before), After: []byte(after),
	})
	var missing *DanglingError
	if !errors.As(err, &missing) || w.read(dir1+"/events.json") != before {
		t.Errorf("got %v", err)
	}
	shorter := strings.Replace(before, "question", "Question", 1)
	if err := ws.Replace(t.Context(), id1, Replacement{
		Name: EventsFile, Before: []byte(before), After: []byte(shorter),
	}); err != nil {
		t.Errorf("an edit that refers to what is there: %v", err)
	}
}
