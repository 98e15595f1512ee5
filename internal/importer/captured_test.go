package importer

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/capture"
	"github.com/git-jp/git-jp/internal/sessions"
)

// TestNotedIsLookedAtAgain checks that a noted session that cannot be read is read again, as one
// that its agent is just writing, and that its note stays if that does not help.
func TestNotedIsLookedAtAgain(t *testing.T) {
	w := newWorkspace(t)
	file := filepath.Join(t.TempDir(), "session-a.json")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const begins = `{"sessionId":"a","projectHash":"0","directories":["`
	whole := begins + w.Root() + `"],"messages":[{"id":"u","type":"user",` +
		`"timestamp":"2026-05-02T10:00:00Z","content":"And now?"}]}`
	c := Captured{
		Importer: &Importer{Workspace: w}, Store: capture.StoreIn(t.TempDir()), Now: time.Now,
		Places: sessions.Places{Home: t.TempDir(), Getenv: func(string) string { return "" }},
	}
	note := capture.Note{Agent: sessions.Gemini, Session: "a", Path: file, Root: w.Root()}
	for _, then := range []string{whole[:len(whole)-1], whole} {
		if err := c.Store.Add(note); err != nil {
			t.Fatal(err)
		}
		write(whole[:len(whole)-1])
		looks, failed := 0, 0
		c.Report = func(r Result) error {
			looks++
			if r.Err != nil {
				failed++
			}
			write(then)
			return nil
		}
		if err := c.settle(t.Context(), 0, 0, 0); err != nil {
			t.Fatal(err)
		}
		notes, err := c.Store.Notes()
		if isRead := then == whole; err != nil || looks != 3 || isRead != (len(notes) == 0) ||
			isRead != (failed < looks) {
			t.Errorf("%d looks, %d failed, notes %v, %v", looks, failed, notes, err)
		}
	}
}
