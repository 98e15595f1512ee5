package importer

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/claude"
	"github.com/git-jp/git-jp/internal/sessions/codex"
	"github.com/git-jp/git-jp/internal/workspace"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

// TestEveryConversationIsResumed checks for every imported conversation that a turn added by an
// agent to its export is imported into it, and that a second import changes nothing.
func TestEveryConversationIsResumed(t *testing.T) {
	found, _ := Find(t.Context(), sessions.Places{}, Selection{Paths: atHand(), Foreign: true})
	slices.SortStableFunc(found, func(a, b Found) int { return strings.Compare(a.Path, b.Path) })
	tried := map[sessions.Agent]int{}
	for _, f := range found {
		const enough = 256 << 10
		ours := strings.HasPrefix(f.Path, "..") // there are many of the others
		if f.Err != nil || f.Size > enough || !ours && tried[f.Name.Agent] >= 12 {
			continue
		}
		tried[f.Name.Agent]++
		t.Run(string(f.Name.Agent)+"/"+filepath.Base(f.Path), func(t *testing.T) {
			w := newWorkspace(t)
			im := &Importer{Workspace: w}
			out, err := im.Import(t.Context(), f.Dialect, f.Session)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range out.Made {
				resumes(t, w, m.ID)
			}
		})
	}
	if len(tried) < 4 {
		t.Errorf("there are sessions of %v alone", slices.Collect(maps.Keys(tried)))
	}
}

// resumes checks that a conversation can be continued by each agent.
func resumes(t *testing.T, w *workspace.Workspace, id events.ID) {
	t.Helper()
	for _, d := range resumable {
		before, has := loaded(t, w, id), count(t, w)
		if len(said(before.Stream)) == 0 {
			continue // it has no question
		}
		x := export(t, w, id, d)
		if out := x.takes(t, &Importer{Workspace: w}); out.State != Unchanged || out.Apart != nil {
			t.Fatalf("%s: an export is %s, %v", d.Agent(), out.State, out.Apart)
		}
		x.asks(t, "And now?", "Gone on.")
		out := x.takes(t, &Importer{Workspace: w})
		if out.State != Grown || len(out.Made) != 1 || out.Made[0].ID != id || out.Apart != nil {
			t.Fatalf("%s: it is %s as %v, %v", d.Agent(), out.State, out.Made, out.Apart)
		}
		after := loaded(t, w, id)
		was, now := raws(before.Stream), raws(after.Stream)
		if diff := cmp.Diff(was, now[:len(was)]); diff != "" {
			t.Fatalf("%s: -before +after:\n%s", d.Agent(), diff)
		}
		added := said(events.New(elements(after.Stream)[len(was):]...))
		if n := len(added); n < 2 || added[n-2] != "And now?" || added[n-1] != "Gone on." ||
			n > 2 && d.Agent() == sessions.ClaudeCode {
			t.Fatalf("%s: added was %q", d.Agent(), added)
		}
		if n := count(t, w); n != has {
			t.Errorf("%s: there are %d conversations more", d.Agent(), n-has)
		}
		for _, im := range []*Importer{{Workspace: w}, {Workspace: w, Fresh: true}} {
			if out := x.takes(t, im); out.State != Unchanged {
				t.Errorf("%s: again it is %s", d.Agent(), out.State)
			}
		}
		if diff := cmp.Diff(now, raws(loaded(t, w, id).Stream)); diff != "" {
			t.Errorf("%s: -once +again:\n%s", d.Agent(), diff)
		}
	}
}

// TestResumedGrows checks that imports in the middle of and after each turn give the same as one
// import at the end, and that the result can be exported and continued again.
func TestResumedGrows(t *testing.T) {
	for _, d := range resumable {
		w, once := newWorkspace(t), newWorkspace(t)
		id := ours(t, w, "First?", "Second?")
		ours(t, once, "First?", "Second?")
		x := export(t, w, id, d)
		begins := len(x.data(t))
		for n := range 3 {
			x.asks(t, fmt.Sprintf("Question %d?", n), fmt.Sprintf("Answer %d.", n))
		}
		data := x.data(t)
		for end := begins; end < len(data); end += 97 {
			x.write(t, data[:end])
			x.takes(t, &Importer{Workspace: w})
		}
		x.write(t, data)
		x.takes(t, &Importer{Workspace: w})
		x.takes(t, &Importer{Workspace: once})
		if diff := cmp.Diff(has(t, once), has(t, w)); diff != "" {
			t.Fatalf("%s: -one import +many:\n%s", d.Agent(), diff)
		}
		y := export(t, w, id, d)
		if y.session(t).Name == x.session(t).Name {
			t.Error("it is the same session")
		}
		y.turns = 10
		y.asks(t, "Anything else?", "No.")
		x.asks(t, "Here too?", "Yes.")
		y.takes(t, &Importer{Workspace: w})
		x.takes(t, &Importer{Workspace: w})
		all := said(loaded(t, w, id).Stream)
		for _, word := range []string{"First?", "Question 2?", "Anything else?", "Here too?"} {
			if n := len(slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s != word })); n != 1 {
				t.Errorf("%s: %q stands %d times", d.Agent(), word, n)
			}
		}
	}
}

// TestResumedBesideOthers checks that turns added, changed or removed here meanwhile stay so, and
// that streams of two clones that import different lengths merge to one of them.
func TestResumedBesideOthers(t *testing.T) {
	for _, d := range resumable {
		w, other := newWorkspace(t), newWorkspace(t)
		id := ours(t, w, "First?", "Second?", "Third?")
		ours(t, other, "First?", "Second?", "Third?")
		base := loaded(t, w, id)
		x := export(t, w, id, d)
		change(t, w, id, func(s *events.Stream) {
			e := s.At(1)
			s.Set(1, e.With(&events.ChatRequest{Content: "Changed?"}))
			s.Append(events.NewElement(clock.Add(-time.Second), &events.ConfigDelta{
				Delta: []byte(`{"assistant":{"name":"Ben"}}`),
			}, events.Metadata{}))
			ask(s, clock, "Here?")
		})
		x.asks(t, "There?", "")
		x.takes(t, &Importer{Workspace: other})
		short := loaded(t, other, id)
		x.asks(t, "There again?", "Yes.")
		x.takes(t, &Importer{Workspace: w})
		long := loaded(t, w, id)
		want := []string{"Changed?", "Second?", "Third?", "Here?", "There?", "There again?"}
		for _, q := range want {
			if n := slices.Index(said(long.Stream), q); n < 0 {
				t.Errorf("%s: %q is lost of %q", d.Agent(), q, said(long.Stream))
			}
		}
		// It ran with the settings at the time of the export, and another model.
		behind := string(long.Stream.Encode())
		behind = behind[strings.Index(behind, `"Here?"`):]
		if !strings.Contains(behind, `"Ann"`) || !strings.Contains(behind, `"provider"`) {
			t.Errorf("%s: behind what was said here is\n%s", d.Agent(), behind)
		}
		// The turn records its predecessor, since another turn is between them.
		if !bytes.Contains(long.Stream.Encode(), []byte("git_jp_parent")) {
			t.Errorf("%s: what was said there follows what was said here", d.Agent())
		}
		conv := func(c *workspace.Conversation) threeway.Side {
			return threeway.Side{
				Stream: c.Stream, BaseConfig: c.BaseConfig, Source: threeway.SourceOf(c.Details),
			}
		}
		a := merged(t, conv(base), conv(short), conv(long))
		b := merged(t, conv(base), conv(long), conv(short))
		if !bytes.Equal(a.Stream.Encode(), b.Stream.Encode()) {
			t.Errorf("%s: the result depends on who merges", d.Agent())
		}
		if diff := cmp.Diff(raws(long.Stream), raws(a.Stream)); diff != "" {
			t.Errorf("%s: -longer +merged:\n%s", d.Agent(), diff)
		}
		short.Details.LastActivatedAt = clock.AddDate(1, 0, 0)
		for _, sides := range [][2]*workspace.Conversation{{short, long}, {long, short}} {
			data, err := threeway.Metadata(base.Details.Encode(), sides[0].Details.Encode(),
				sides[1].Details.Encode())
			if err != nil {
				t.Fatal(err)
			}
			m, err := events.DecodeDetails(data)
			if err != nil || !maps.Equal(m.Resumed(), long.Details.Resumed()) {
				t.Errorf("%s: how much is in is %v, %v", d.Agent(), m.Resumed(), err)
			}
		}
		change(t, w, id, func(s *events.Stream) { // a turn is removed
			all := elements(s)
			i := slices.IndexFunc(all, func(e *events.Element) bool {
				q, ok := e.Event().(*events.ChatRequest)
				return ok && q.Content == "There again?"
			})
			j := i
			for j < len(all) && (j == i || all[j].Kind() != events.KindTurnStart) {
				j++
			}
			all = slices.Delete(all, i-1, j)
			*s = *events.New(all...)
		})
		x.asks(t, "Still there?", "Yes.")
		x.takes(t, &Importer{Workspace: w})
		now := said(loaded(t, w, id).Stream)
		if slices.Contains(now, "There again?") || !slices.Contains(now, "Still there?") {
			t.Errorf("%s: after a removal there is %q", d.Agent(), now)
		}
	}
}

// TestForeignExports checks that a session with the mark of a conversation that it does not match
// is imported as one of its own.
func TestForeignExports(t *testing.T) {
	for _, d := range resumable {
		for name, spoil := range map[string]func(w *workspace.Workspace, x *exported){
			"changed beginning": func(_ *workspace.Workspace, x *exported) {
				x.write(t, bytes.Replace(x.data(t), []byte("Second?"), []byte("Secund?"), 1))
			},
			"line in the beginning": func(_ *workspace.Workspace, x *exported) {
				lines := bytes.SplitAfter(x.data(t), []byte("\n"))
				x.write(t, bytes.Join(slices.Insert(lines, 3, lines[2]), nil))
			},
			"another conversation": func(w *workspace.Workspace, _ *exported) {
				change(t, w, 17528832001, func(s *events.Stream) {
					*s = *events.New()
					ask(s, clock, "First?")
				})
			},
			"a last turn that was changed": func(w *workspace.Workspace, _ *exported) {
				change(t, w, 17528832001, func(s *events.Stream) {
					e := s.At(s.Len() - 1)
					s.Set(s.Len()-1, e.With(&events.ChatResponse{Form: events.FormMessage, Text: "Mine"}))
				})
			},
			"fewer lines": func(_ *workspace.Workspace, x *exported) {
				x.write(t, regexp.MustCompile(`"lines":[0-9]+`).ReplaceAll(x.data(t), []byte(`"lines":3`)))
			},
			"more lines": func(_ *workspace.Workspace, x *exported) {
				x.write(t, regexp.MustCompile(`"lines":[0-9]+`).ReplaceAll(x.data(t), []byte(`"lines":99`)))
			},
			"other turns": func(_ *workspace.Workspace, x *exported) {
				data := regexp.MustCompile(`"turns":"[0-9a-f]{8}`).ReplaceAll(x.data(t), []byte(`"turns":"00000000`))
				x.write(t, regexp.MustCompile(`[0-9a-f]{20}"\}`).ReplaceAll(data, []byte(`00000000000000000000"}`)))
			},
		} {
			w := newWorkspace(t)
			id := ours(t, w, "First?", "Second?")
			x := export(t, w, id, d)
			x.asks(t, "And now?", "Gone on.")
			spoil(w, x)
			before := raws(loaded(t, w, id).Stream)
			out := x.takes(t, &Importer{Workspace: w})
			if out.State != New || out.Apart == nil || out.Made[0].ID == id {
				t.Errorf("%s, %s: it is %s as %v, %v", d.Agent(), name, out.State, out.Made, out.Apart)
			}
			if diff := cmp.Diff(before, raws(loaded(t, w, id).Stream)); diff != "" {
				t.Errorf("%s, %s: -before +after:\n%s", d.Agent(), name, diff)
			}
			x.asks(t, "More?", "Yes.")
			if out := x.takes(t, &Importer{Workspace: w}); out.State != Grown || out.Made[0].ID == id {
				t.Errorf("%s, %s: then it is %s as %v", d.Agent(), name, out.State, out.Made)
			}
		}
	}
}

// TestResumedIsElsewhere checks that a session waits for its conversation, unless it is imported
// with Again.
func TestResumedIsElsewhere(t *testing.T) {
	for _, d := range resumable {
		w := newWorkspace(t)
		id := ours(t, w, "First?")
		x := export(t, w, id, d)
		x.asks(t, "And now?", "Gone on.")
		if err := w.Remove(t.Context(), id, nil); err != nil {
			t.Fatal(err)
		}
		if out := x.takes(t, &Importer{Workspace: w}); out.State != Removed ||
			!errors.Is(out.Apart, ErrElsewhere) || count(t, w) != 0 {
			t.Errorf("%s: it is %s, %v", d.Agent(), out.State, out.Apart)
		}
		out := x.takes(t, &Importer{Workspace: w, Again: true})
		if out.State != New || !slices.Contains(said(loaded(t, w, out.Made[0].ID).Stream), "And now?") {
			t.Errorf("%s: then it is %s", d.Agent(), out.State)
		}
	}
}

// TestWentBack checks that turns rewound after the export are a conversation of their own, and that
// after a rewind to before its end the new branch is.
func TestWentBack(t *testing.T) {
	w := newWorkspace(t)
	id := ours(t, w, "First?", "Second?")
	x := export(t, w, id, claude.Dialect{})
	end := x.last(t, 1)
	inside := x.last(t, 3)
	x.asks(t, "A?", "Said A.")
	x.takes(t, &Importer{Workspace: w})
	x.asksBehind(t, end, "B?", "Said B.")
	x.takes(t, &Importer{Workspace: w})
	if got := said(loaded(t, w, id).Stream); slices.Contains(got, "A?") || !slices.Contains(got, "B?") {
		t.Errorf("after they went back there is %q", got)
	}
	if n := count(t, w); n != 2 {
		t.Fatalf("%d conversations", n)
	}
	x.asksBehind(t, inside, "C?", "Said C.")
	out := x.takes(t, &Importer{Workspace: w})
	got := said(loaded(t, w, id).Stream)
	if !slices.Contains(got, "Second?") || !slices.Contains(got, "B?") || slices.Contains(got, "C?") {
		t.Errorf("after they went back into the export there is %q", got)
	}
	own := said(loaded(t, w, out.Made[0].ID).Stream)
	if out.Made[0].ID == id || !slices.Contains(own, "C?") || slices.Contains(own, "Second?") {
		t.Errorf("what they said there is %q", own)
	}
	if n := count(t, w); n != 3 {
		t.Errorf("%d conversations", n)
	}
	x.takes(t, &Importer{Workspace: w, Fresh: true})
	if n := count(t, w); n != 3 {
		t.Errorf("again there are %d conversations", n)
	}
	once := newWorkspace(t)
	ours(t, once, "First?", "Second?")
	x.takes(t, &Importer{Workspace: once})
	if diff := cmp.Diff(has(t, once), has(t, w)); diff != "" {
		t.Errorf("-one import +many:\n%s", diff)
	}
}

// TestRedactedIsNotResumed checks that text redacted since an export returns neither to the
// conversation nor to another one.
func TestRedactedIsNotResumed(t *testing.T) {
	for _, d := range resumable {
		w := newWorkspace(t)
		id := ours(t, w, "First?", "The quiet word?")
		x := export(t, w, id, d)
		change(t, w, id, func(s *events.Stream) {
			for i, e := range s.All() {
				if q, ok := e.Event().(*events.ChatRequest); ok && strings.Contains(q.Content, "quiet") {
					s.Set(i, redacted(t, e, "The [redacted:word]?"))
				}
			}
		})
		x.asks(t, "And now?", "Gone on.")
		data := x.data(t)
		x.write(t, regexp.MustCompile(`("turns":"[0-9a-f]{8})[0-9a-f]{12}`).ReplaceAll(data, []byte("${1}000000000000")))
		_, err := (&Importer{Workspace: w}).Import(t.Context(), x.Dialect, x.session(t))
		if !errors.Is(err, ErrWithheld) {
			t.Errorf("%s: what does not know the other turn: %v", d.Agent(), err)
		}
		x.write(t, data)
		if out := x.takes(t, &Importer{Workspace: w}); out.State != Grown || out.Made[0].ID != id {
			t.Errorf("%s: it is %s as %v", d.Agent(), out.State, out.Made)
		}
		x.write(t, bytes.Replace(x.data(t), []byte("First?"), []byte("Fust?"), 1))
		_, err = (&Importer{Workspace: w}).Import(t.Context(), x.Dialect, x.session(t))
		if !errors.Is(err, ErrWithheld) {
			t.Errorf("%s: what is not known for it: %v", d.Agent(), err)
		}
		entry := secrets.Redactions{}
		entry.Add(secrets.Redaction{Conversation: id.Digits(), Event: "1", Member: "/content"})
		if err := w.Remove(t.Context(), id, nil); err != nil {
			t.Fatal(err)
		}
		im := &Importer{Workspace: w, Again: true, Redactions: entry}
		if _, err = im.Import(t.Context(), x.Dialect, x.session(t)); !errors.Is(err, ErrWithheld) {
			t.Errorf("%s: where it is not here: %v", d.Agent(), err)
		}
		if strings.Contains(stored(t, w.Blobs()), "quiet") || count(t, w) != 0 {
			t.Errorf("%s: it is back", d.Agent())
		}
	}
}

// TestExportIsNotStored checks that no content of an export returns to a store that no longer has
// it.
func TestExportIsNotStored(t *testing.T) {
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	result := func(text string) *events.Element {
		return events.NewElement(at, &events.ToolCallResponse{ID: "1", Blocks: []events.Block{{
			Type: events.BlockText, Content: blobs.Loaded([]byte(strings.Repeat(text, 3000))),
		}}}, events.Metadata{})
	}
	was := result("quiet ")
	with := func(w *workspace.Workspace, last *events.Element) events.ID {
		s := events.New()
		ask(s, at, "First?")
		s.Append(events.NewElement(at, &events.ToolCallRequest{
			ID: "1", Name: "look", Arguments: []byte(`{}`),
		}, events.Metadata{}), last)
		e, err := w.Create(t.Context(), &workspace.NewConversation{
			ID: 17528832001, Details: &events.Details{LastActivatedAt: at}, Stream: s,
		})
		if err != nil {
			t.Fatal(err)
		}
		return e.ID
	}
	for _, d := range resumable {
		w, other := newWorkspace(t), newWorkspace(t)
		x := export(t, w, with(w, was), d)
		with(other, result("loud ").AsRedacted(was))
		x.asks(t, "And now?", strings.Repeat("new ", 3000))
		if out := x.takes(t, &Importer{Workspace: other}); out.State != Grown {
			t.Errorf("%s: it is %s, %v", d.Agent(), out.State, out.Apart)
		}
		if strings.Contains(stored(t, other.Blobs()), "quiet") {
			t.Errorf("%s: the store has what was redacted", d.Agent())
		}
	}
}

// TestResumedAnew checks that other rules rebuild only the turns that agents added.
func TestResumedAnew(t *testing.T) {
	for _, d := range resumable {
		w := newWorkspace(t)
		id := ours(t, w, "First? It is quiet.")
		x := export(t, w, id, d)
		x.asks(t, "And now? It is quiet.", "Gone on.")
		x.takes(t, &Importer{Workspace: w})
		rules := secrets.ValueRules("word", "quiet")
		if out := x.takes(t, &Importer{Workspace: w, Rules: rules, Fresh: true}); out.State != Grown {
			t.Errorf("%s: it is %s", d.Agent(), out.State)
		}
		got := strings.Join(said(loaded(t, w, id).Stream), " ")
		if !strings.Contains(got, "First? It is quiet.") ||
			strings.Count(got, "And now? It is [redacted:word].") != 1 || strings.Count(got, "quiet") != 2 {
			t.Errorf("%s: it is %q", d.Agent(), got)
		}
		change(t, w, id, func(s *events.Stream) { *s = *events.New(elements(s)[:3]...) }) // git restore
		for _, im := range []*Importer{{Workspace: w}, {Workspace: w, Fresh: true}} {
			if out := x.takes(t, im); im.Fresh != (out.State == Grown) {
				t.Errorf("%s: where it was restored it is %s", d.Agent(), out.State)
			}
		}
		if got := said(loaded(t, w, id).Stream); !slices.Contains(got, "Gone on.") {
			t.Errorf("%s: then it is %q", d.Agent(), got)
		}
	}
}

// TestResumedCompaction checks that a compaction by the agent covers all turns that it had, as the
// conversation counts them, but those that it keeps, and none that was added here meanwhile.
func TestResumedCompaction(t *testing.T) {
	for name, keeps := range map[string]int{
		"all": 0, "all but the last": 1, "an exported turn stays whole": 3, "nothing": 9,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			id := ours(t, w, "First?", "Second?", "Third?")
			change(t, w, id, func(s *events.Stream) {
				text := "The first two."
				last := s.At(s.Len() - 1)
				s.Append(events.NewElement(last.Time(), &events.ChatResponse{Form: events.FormMessage, Text: "More."},
					events.Metadata{}))
				s.Append(events.NewElement(clock, &events.Compaction{ToTurn: 1, Summary: &text}, events.Metadata{}))
			})
			x := export(t, w, id, claude.Dialect{})
			x.asks(t, "A?", "Said A.")
			want := [][2]int{{0, 1}, {0, 3}}
			if keeps > 0 {
				want[1][1] = map[int]int{1: 2, 3: 1}[keeps]
				all := regexp.MustCompile(`"uuid":"[^"]*"`).FindAll(x.data(t), -1)
				x.write(t, fmt.Appendf(x.data(t), `{"type":"system","subtype":"compact_boundary","parentUuid":null,`+
					`"uuid":"00000000-0000-4000-8000-999900000001","sessionId":%q,"timestamp":"2027-01-01T11:00:00Z",`+
					`"compactMetadata":{"preservedSegment":{"headUuid":%s}}}`+"\n",
					x.session(t).Name.ID, bytes.TrimPrefix(all[max(0, len(all)-keeps)], []byte(`"uuid":`))))
			}
			x.write(t, fmt.Appendf(x.data(t), `{"type":"user","uuid":"00000000-0000-4000-8000-999900000000",`+
				`"parentUuid":null,"sessionId":%q,"timestamp":"2027-01-01T11:00:00Z","isCompactSummary":true,`+
				`"message":{"role":"user","content":"All of it."}}`+"\n", x.session(t).Name.ID))
			x.asks(t, "B?", "Said B.")
			x.takes(t, &Importer{Workspace: w})
			if keeps == 9 {
				want = want[:1]
			}
			var covered [][2]int
			s := loaded(t, w, id).Stream
			for _, e := range s.All() {
				if c, ok := e.Event().(*events.Compaction); ok {
					covered = append(covered, [2]int{c.FromTurn, c.ToTurn})
				}
			}
			if diff := cmp.Diff(want, covered); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if n := len(s.Turns()); n != 5 {
				t.Errorf("%d turns: %q", n, said(s))
			}
			if out := x.takes(t, &Importer{Workspace: w}); out.State != Unchanged {
				t.Errorf("again it is %s", out.State)
			}
		})
	}
}

// TestResumedSubagent checks that a sub-agent of the session has a conversation of its own, whose
// turn is complete only when the source says so.
func TestResumedSubagent(t *testing.T) {
	w := newWorkspace(t)
	id := ours(t, w, "First?")
	x := export(t, w, id, claude.Dialect{})
	x.asks(t, "Have it counted.", "")
	x.write(t, fmt.Appendf(x.data(t), `{"type":"user","uuid":"00000000-0000-4000-8000-999900000000",`+
		`"isSidechain":true,"agentId":"z","sessionId":%q,"timestamp":"2027-01-01T11:00:00Z",`+
		`"message":{"role":"user","content":"Count."}}`+"\n", x.session(t).Name.ID))
	out := x.takes(t, &Importer{Workspace: w})
	if len(out.Made) != 2 || out.Made[0].ID != id || out.State != Grown {
		t.Fatalf("it is %s as %v", out.State, out.Made)
	}
	s := loaded(t, w, out.Made[1].ID).Stream
	if _, open := s.At(0).Metadata().Value(events.MetadataOpen); !open || len(said(s)) != 1 {
		t.Errorf("the sub-agent said\n%s", s.Encode())
	}
}

// TestPackedIsResumed checks a session that Codex has compressed, as it does after a week.
func TestPackedIsResumed(t *testing.T) {
	w := newWorkspace(t)
	id := ours(t, w, "First?")
	x := export(t, w, id, codex.Dialect{})
	x.asks(t, "And now?", "Gone on.")
	packer, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	data := packer.EncodeAll(x.data(t), nil)
	if err := errors.Join(packer.Close(), os.Remove(x.path)); err != nil {
		t.Fatal(err)
	}
	x.path += ".zst"
	x.write(t, data)
	for _, want := range []State{Grown, Unchanged} {
		if out := x.takes(t, &Importer{Workspace: w}); out.State != want || out.Made[0].ID != id {
			t.Errorf("it is %s as %v, not %s", out.State, out.Made, want)
		}
	}
	if got := said(loaded(t, w, id).Stream); !slices.Contains(got, "Gone on.") {
		t.Errorf("there is %q", got)
	}
}
