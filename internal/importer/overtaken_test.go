package importer

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/claude"
	"github.com/git-jp/git-jp/internal/sessions/gemini"
	"github.com/git-jp/git-jp/internal/workspace"
	"github.com/google/go-cmp/cmp"
)

// TestOvertaken checks that an import changes nothing if another one read more of the session and
// was saved first, as when a hook runs beside an import.
func TestOvertaken(t *testing.T) {
	lines := slices.Collect(bytes.Lines(transcript()))
	const perTurn = 6
	for _, before := range []int{0, perTurn, perTurn + 3} { // how much is here before both
		for _, read := range []int{2 * perTurn, 2*perTurn + 4} {
			w, s := newWorkspace(t), writeSession(t, transcript())
			upTo := func(end int) {
				if err := os.WriteFile(s.Path, bytes.Join(lines[:end], nil), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if upTo(before); before > 0 {
				importIn(t, w, claude.Dialect{}, s.Path)
			}
			upTo(read)
			overtaken(t, w, claude.Dialect{}, s.Path, func() { upTo(len(lines)) })
		}
	}
	for _, d := range resumable {
		w := newWorkspace(t)
		x := export(t, w, ours(t, w, "First?", "Second?"), d)
		x.asks(t, "Here?", "Yes.")
		x.takes(t, &Importer{Workspace: w})
		x.asks(t, "And here?", "Yes.")
		overtaken(t, w, d, x.path, func() {
			x.asks(t, "Elsewhere?", "No.")
			x.asks(t, "Anywhere?", "No.")
		})
	}
}

// TestOvertakenInPlace is TestOvertaken for a source that changes in place, whose clock does not tell
// which state is the later.
func TestOvertakenInPlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "session-a.json")
	state := func(messages int) {
		var all []string
		for n := range messages {
			all = append(all, fmt.Sprintf(`{"id":"%d","type":"user","content":"Prompt %d",`+
				`"timestamp":"2026-05-02T10:00:%02dZ"}`, n, n, n))
		}
		text := `{"sessionId":"a","projectHash":"0","startTime":"2026-05-03T00:00:00Z",` +
			`"messages":[` + strings.Join(all, ",") + `]}`
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, before := range []int{0, 1} {
		w := newWorkspace(t)
		if state(before); before > 0 {
			importIn(t, w, gemini.Dialect{}, file)
		}
		state(2)
		overtaken(t, w, gemini.Dialect{}, file, func() { state(4) })
	}
}

// overtaken reads a session, and saves what it says after another import read more of it.
func overtaken(
	t *testing.T, w *workspace.Workspace, d sessions.Dialect, path string, grow func(),
) {
	t.Helper()
	im := &Importer{Workspace: w}
	slow := im.newJob(d, listed(t, d, path))
	if e, here, err := im.find(slow.session.Name); err == nil && !slow.appends() {
		v, _ := im.versionOf(e, here) // as where a stash or a checkout restored the conversation
		im.Restored = func() map[events.ID]events.ImportVersion {
			return map[events.ID]events.ImportVersion{e.ID: v}
		}
	}
	if err := slow.prepare(t.Context(), (*blobs.Store).NewBatch); slow.batch == nil {
		t.Fatal(slow.out.State, err)
	}
	grow()
	importIn(t, w, d, path)
	want := has(t, w)
	slow.err = slow.batch.Commit()
	out, err := slow.finish(t.Context())
	if inPlace := !slow.appends(); inPlace != errors.Is(err, errOvertaken) ||
		!inPlace && (err != nil || out.State != Unchanged) {
		t.Errorf("%s: it is %s, %v", d.Agent(), out.State, err)
	}
	if diff := cmp.Diff(want, has(t, w)); diff != "" {
		t.Errorf("%s: -before +after:\n%s", d.Agent(), diff)
	}
}

func importIn(t *testing.T, w *workspace.Workspace, d sessions.Dialect, path string) {
	t.Helper()
	im := &Importer{Workspace: w}
	if _, err := im.Import(t.Context(), d, listed(t, d, path)); err != nil {
		t.Fatal(err)
	}
}

// listed returns the session in a file.
func listed(t *testing.T, d sessions.Dialect, path string) sessions.Session {
	t.Helper()
	found, err := d.List(t.Context(), path)
	if err != nil || len(found) != 1 {
		t.Fatalf("%d sessions, %v", len(found), err)
	}
	return found[0]
}
