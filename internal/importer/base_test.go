package importer

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/sessions/codex"
	"github.com/git-jp/git-jp/internal/workspace"
)

// codexThread returns a thread of Codex with some prompts, which may begin with another.
func codexThread(id, dir, base string, end int, prompts ...string) string {
	meta := ""
	if base != "" {
		meta = fmt.Sprintf(`,"history_base":{"thread_id":%q,"end_byte_offset":%d}`, base, end)
	}
	out := fmt.Sprintf(`{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta",`+
		`"payload":{"id":%q,"cwd":%q%s}}`+"\n", id, dir, meta)
	for i, text := range prompts {
		out += fmt.Sprintf(`{"timestamp":"2026-01-01T00:00:0%dZ","type":"event_msg",`+
			`"payload":{"type":"user_message","message":%q}}`+"\n", i+1, text)
	}
	return out
}

// asked returns the prompts of the conversation of a thread.
func asked(t *testing.T, w *workspace.Workspace, id string) string {
	t.Helper()
	c := conversations(t, w)["codex-"+id]
	if c == nil {
		t.Fatalf("%s has no conversation", id)
	}
	var all []string
	for _, e := range c.Stream.All() {
		if r, ok := e.Event().(*events.ChatRequest); ok {
			all = append(all, r.Content)
		}
	}
	return strings.Join(all, " ")
}

func importsThread(t *testing.T, im *Importer, path string) {
	t.Helper()
	listed, err := codex.Dialect{}.List(t.Context(), path)
	if err != nil || len(listed) != 1 {
		t.Fatal(listed, err)
	}
	if _, err := im.Import(t.Context(), codex.Dialect{}, listed[0]); err != nil {
		t.Fatal(err)
	}
}

// TestBeginningComesLater imports a fork whose beginning was gone at first: it is added with what
// the fork says then, or by importing it again. What a person removed stays removed.
func TestBeginningComesLater(t *testing.T) {
	for name, test := range map[string]struct {
		fresh, removes, grows bool
		want                  string
	}{
		"grown":                  {grows: true, want: "one two three more"},
		"imported again":         {fresh: true, want: "one two three"},
		"grown, and removed":     {grows: true, removes: true, want: "one three more"},
		"again, and removed":     {fresh: true, removes: true, want: "one three"},
		"neither grown nor that": {want: "two three"},
	} {
		t.Run(name, func(t *testing.T) {
			w, dir := newWorkspace(t), t.TempDir()
			a := codexThread("a", "/w", "", 0, "one")
			fork := filepath.Join(dir, "x-b.jsonl")
			write := func(name, data string) {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write("x-b.jsonl", codexThread("b", "/w", "a", len(a), "two", "three"))
			importsThread(t, &Importer{Workspace: w}, fork)
			if test.removes {
				removesFirst(t, w)
			}
			write("x-a.jsonl", a)
			if test.grows {
				write("x-b.jsonl", codexThread("b", "/w", "a", len(a), "two", "three", "more"))
			}
			for range 2 {
				importsThread(t, &Importer{Workspace: w, Fresh: test.fresh}, fork)
				if got := asked(t, w, "b"); got != test.want {
					t.Errorf("it asks %q, want %q", got, test.want)
				}
			}
			removesFirst(t, w)
			_, want, _ := strings.Cut(test.want, " ")
			want = strings.TrimSuffix(want, " more") + " more last"
			write("x-b.jsonl", codexThread("b", "/w", "a", len(a), "two", "three", "more", "last"))
			importsThread(t, &Importer{Workspace: w}, fork)
			if got := asked(t, w, "b"); test.want != "two three" && got != want {
				t.Errorf("after the first turn was removed it asks %q, want %q", got, want)
			}
		})
	}
}

// removesFirst removes what the fork asks first.
func removesFirst(t *testing.T, w *workspace.Workspace) {
	t.Helper()
	change(t, w, conversations(t, w)["codex-b"].ID, func(s *events.Stream) {
		turns := s.TurnOf()
		first := slices.IndexFunc(elements(s), func(e *events.Element) bool {
			return e.Kind() == events.KindTurnStart
		})
		end := slices.Index(turns, turns[first]+1)
		s.Remove(first, end-first)
	})
}
