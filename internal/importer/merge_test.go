package importer

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/claude"
	"github.com/git-jp/git-jp/internal/sessions/sessionstest"
	"github.com/git-jp/git-jp/internal/workspace"
	"github.com/go-json-experiment/json/jsontext"
)

// transcript is a session of six turns, some with records, a tool and a late usage figure.
func transcript() []byte {
	var out strings.Builder
	n := 0
	line := func(kind, parent, rest string) string {
		n++
		id := fmt.Sprintf("%08x-0000-4000-8000-%012x", n*7919, n)
		at := time.Date(2026, 5, 2, 10, 0, n, 0, time.UTC).Format(time.RFC3339)
		fmt.Fprintf(&out, `{"type":%q,"uuid":%q,"parentUuid":%s,"sessionId":"grow","timestamp":%q,`+
			`"cwd":"/home/ada/proj",%s}`+"\n", kind, id, parent, at, rest)
		return `"` + id + `"`
	}
	last := "null"
	for turn := range 6 {
		last = line("user", last, fmt.Sprintf(`"message":{"role":"user","content":"Prompt %d"}`, turn))
		said := func(stop, block string, tokens int) {
			last = line("assistant", last, fmt.Sprintf(`"message":{"id":"m%d","model":"claude-x",`+
				`"stop_reason":%s,"content":[%s],"usage":{"input_tokens":1,"output_tokens":%d}}`,
				turn, stop, block, tokens))
		}
		said("null", `{"type":"thinking","thinking":"Hm","signature":"c2ln"}`, 5)
		said(`"tool_use"`, fmt.Sprintf(
			`{"type":"tool_use","id":"t%d","name":"Bash","input":{"command":"ls /home/ada/proj"}}`, turn), 20)
		last = line("user", last, fmt.Sprintf(`"message":{"role":"user","content":`+
			`[{"type":"tool_result","tool_use_id":"t%d","content":"a\nb"}]},`+
			`"toolUseResult":{"stdout":"a\nb","code":%d}`, turn, turn))
		said(`"end_turn"`, `{"type":"text","text":"Done"}`, 30)
		last = line("system", last, `"subtype":"turn_duration","durationMs":5`)
	}
	return []byte(out.String())
}

// rewound is a session in which the person went back to the first turn, twice.
func rewound() []byte { return branches(-1, 0, 0, 2, 0) }

// branches is a session each of whose turns follows the one that after names.
func branches(after ...int) []byte {
	var out strings.Builder
	last := map[int]string{-1: "null"}
	for turn, after := range after {
		for i, said := range []string{
			`"type":"user","message":{"role":"user","content":"Prompt %d"}`,
			`"type":"assistant","message":{"id":"m%d","model":"claude-x","stop_reason":"end_turn",` +
				`"content":[{"type":"text","text":"Done"}],"usage":{"input_tokens":1,"output_tokens":3}}`,
		} {
			parent, id := last[turn], fmt.Sprintf("00000000-0000-4000-8000-%012d", turn*2+i+1)
			if i == 0 {
				parent = last[after]
			}
			fmt.Fprintf(&out, `{`+said+`,"uuid":%q,"parentUuid":%s,"sessionId":"grow",`+
				`"timestamp":"2026-05-02T10:0%d:0%dZ","cwd":"/home/ada/proj"}`+"\n",
				turn, id, parent, turn, i)
			last[turn] = fmt.Sprintf("%q", id)
		}
	}
	return []byte(out.String())
}

// prefixes returns the imports of each prefix of the session, beginning with the empty one.
func prefixes(t *testing.T, data []byte) []*sessions.Conversation {
	t.Helper()
	file := filepath.Join(t.TempDir(), "grow.jsonl")
	var all []*sessions.Conversation
	for i := range len(data) {
		if data[i] != '\n' {
			continue
		}
		if err := os.WriteFile(file, data[:i+1], 0o600); err != nil {
			t.Fatal(err)
		}
		all = append(all, readFile(t, file))
	}
	return all
}

func readFile(t *testing.T, file string) *sessions.Conversation {
	t.Helper()
	all, _ := sessionstest.Import(t, claude.Dialect{}, file, 0)
	return all[0]
}

func merged(t *testing.T, base, ours, theirs threeway.Side) threeway.Result {
	t.Helper()
	r, err := threeway.Merge(base, ours, theirs)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Conflicts) > 0 {
		t.Fatalf("%d conflicts: %v", len(r.Conflicts), r.Conflicts[0].Kind)
	}
	return r
}

// TestImportsOfOneSessionMerge merges imports of different lengths of one session by two people,
// with and without a common import. The result is the longer one, whoever merges.
func TestImportsOfOneSessionMerge(t *testing.T) {
	for name, data := range map[string][]byte{
		"grown": transcript(), "rewound": rewound(),
		"taken up again": branches(-1, 0, 0, 1, 2, 3, 0, 5),
	} {
		t.Run(name, func(t *testing.T) { mergeAll(t, prefixes(t, data)) })
	}
}

// TestBaseConfigsOfOneSessionMerge merges an import made before the session named a model with a
// longer one, on either side and without a common import. The longer one counts, and its turns get
// no additions.
func TestBaseConfigsOfOneSessionMerge(t *testing.T) {
	for _, model := range []string{"claude-x", "zeta"} { // before and after "unknown"
		all := prefixes(t, bytes.ReplaceAll(transcript(), []byte("claude-x"), []byte(model)))
		short, long := side(all[0]), side(all[len(all)-1])
		if !bytes.Contains(short.BaseConfig, []byte(events.UnknownModel)) ||
			bytes.Contains(long.BaseConfig, []byte(events.UnknownModel)) {
			t.Fatalf("they begin with\n%s\n%s", short.BaseConfig, long.BaseConfig)
		}
		for _, sides := range [][2]threeway.Side{{short, long}, {long, short}} {
			config, warnings, err := threeway.BaseConfig(nil, sides[0].BaseConfig, sides[1].BaseConfig)
			if err != nil || len(warnings) > 0 || !bytes.Equal(config, long.BaseConfig) {
				t.Errorf("%s: %v, %v; got\n%s\nwant\n%s", model, warnings, err, config, long.BaseConfig)
			}
			r := merged(t, threeway.Side{}, sides[0], sides[1])
			if got, want := r.Stream.Encode(), long.Stream.Encode(); !bytes.Equal(got, want) ||
				!bytes.Equal(r.BaseConfig, long.BaseConfig) || len(r.Warnings) > 0 {
				t.Errorf("%s: %v; got\n%s\nwant\n%s", model, r.Warnings, got, want)
			}
		}
	}
}

// TestRecordsBeforeATurn merges an import that has only the records at the beginning of a session
// with a later one, in which they belong to a turn.
func TestRecordsBeforeATurn(t *testing.T) {
	const line = `{"type":%q,"uuid":"00000000-0000-4000-8000-00000000000%d","sessionId":"grow",` +
		`"timestamp":"2026-05-02T10:00:0%dZ","cwd":"/home/ada/proj","message":{"id":"m%d","role":"assistant",` +
		`"model":"claude-x","content":[{"type":"text","text":"Done"}]}}` + "\n"
	var data []byte
	for i, kind := range []string{"hologram", "assistant", "hologram", "assistant"} {
		data = fmt.Appendf(data, line, kind, i, i, i)
	}
	mergeAll(t, prefixes(t, data))
}

func mergeAll(t *testing.T, all []*sessions.Conversation) {
	t.Helper()
	for i := range all {
		for j := i; j < len(all); j += 3 {
			for _, base := range []threeway.Side{{}, side(all[0]), side(all[i/2])} {
				for _, r := range []threeway.Result{
					merged(t, base, side(all[i]), side(all[j])),
					merged(t, base, side(all[j]), side(all[i])),
				} {
					want := all[j].Stream.Encode()
					if got := r.Stream.Encode(); !bytes.Equal(got, want) {
						t.Fatalf("%d and %d lines: got\n%s\nwant\n%s", i+1, j+1, got, want)
					}
				}
			}
		}
	}
}

// TestTurnsAddedHereStay checks that turns added to an import here are kept when the source grew on
// another branch.
func TestTurnsAddedHereStay(t *testing.T) {
	all := prefixes(t, transcript())
	local := func(c *sessions.Conversation) threeway.Side {
		s := c.Stream.Clone()
		at := s.At(s.Len() - 1).Time().Add(500 * time.Millisecond)
		s.Append(
			events.NewElement(at, &events.TurnStart{}, events.Metadata{}),
			events.NewElement(at.Add(time.Microsecond), &events.ChatRequest{Content: "Mine"},
				events.Metadata{}),
		)
		out := side(c)
		out.Stream = s
		return out
	}
	last := all[len(all)-1]
	for i, c := range all {
		ours := local(c)
		a := merged(t, side(c), ours, side(last))
		b := merged(t, side(c), side(last), ours)
		if !bytes.Equal(a.Stream.Encode(), b.Stream.Encode()) {
			t.Fatalf("%d lines: the result depends on who merges", i+1)
		}
		got := map[string]int{}
		for _, e := range a.Stream.All() {
			if q, ok := e.Event().(*events.ChatRequest); ok {
				got[q.Content]++
			}
		}
		if len(got) != 7 || got["Mine"] != 1 || got["Prompt 5"] != 1 {
			t.Fatalf("%d lines: requests are %v", i+1, got)
		}
		again := merged(t, side(c), threeway.Side{Stream: a.Stream, Source: a.Source}, side(last))
		if !bytes.Equal(again.Stream.Encode(), a.Stream.Encode()) {
			t.Fatalf("%d lines: merging again changes the stream", i+1)
		}
	}
}

// TestWhatWasAddedToTheRewoundStays checks that a turn is kept if one branch continued after it,
// changed it or pinned it, while the import on another branch found it rewound.
func TestWhatWasAddedToTheRewoundStays(t *testing.T) {
	all := prefixes(t, rewound())
	short, long := all[3], all[len(all)-1]
	last := short.Stream.Len() - 1
	for name, change := range map[string]struct {
		apply func(s *events.Stream)
		want  map[string]int // number of occurrences of the requests
	}{
		"nothing": {func(*events.Stream) {}, map[string]int{"Prompt 1": 0}},
		"a turn": {func(s *events.Stream) {
			at := s.At(last).Time().Add(500 * time.Millisecond)
			s.Append(
				events.NewElement(at, &events.TurnStart{}, events.Metadata{}),
				events.NewElement(at.Add(time.Microsecond), &events.ChatRequest{Content: "Mine"},
					events.Metadata{}),
			)
		}, map[string]int{"Prompt 1": 0, "Mine": 1}},
		"an answer": {func(s *events.Stream) {
			s.Append(events.NewElement(s.At(last).Time().Add(time.Second),
				&events.ChatRequest{Content: "Mine"}, events.Metadata{}))
		}, map[string]int{"Prompt 1": 1, "Mine": 1}},
		"a pin": {func(s *events.Stream) {
			e := s.At(last - 1)
			s.Set(last-1, e.WithMetadata(e.Metadata().WithText(compact.MetadataPin, "turn")))
		}, map[string]int{"Prompt 1": 1}},
		"a change": {func(s *events.Stream) {
			s.Set(last-1, s.At(last-1).With(&events.ChatRequest{Content: "Mine"}))
		}, map[string]int{"Prompt 1": 0, "Mine": 1}},
		"a redaction": {func(s *events.Stream) {
			s.Set(last-1, redacted(t, s.At(last-1), "[redacted:a]"))
		}, map[string]int{"Prompt 1": 0, "[redacted:a]": 0}},
		"two redactions": {func(s *events.Stream) {
			s.Set(last-1, redacted(t, redacted(t, s.At(last-1), "[redacted:a]"), "[redacted:b]"))
		}, map[string]int{"Prompt 1": 0, "[redacted:b]": 0}},
		"a redaction of an earlier release": {func(s *events.Stream) {
			e := redacted(t, s.At(last-1), "[redacted:a]")
			s.Set(last-1, e.WithMetadata(
				e.Metadata().With(events.MetadataRedacted, jsontext.Value("true"))))
		}, map[string]int{"Prompt 1": 0, "[redacted:a]": 0}},
		"a redaction, then a change": {func(s *events.Stream) {
			e := redacted(t, s.At(last-1), "[redacted:a]")
			s.Set(last-1, e.With(&events.ChatRequest{Content: "Mine"}))
		}, map[string]int{"Prompt 1": 0, "Mine": 1}},
		"a change, then a redaction": {func(s *events.Stream) {
			e := s.At(last - 1).With(&events.ChatRequest{Content: "Mine, and it is secret"})
			s.Set(last-1, redacted(t, e, "Mine"))
		}, map[string]int{"Prompt 1": 0, "Mine": 1}},
		"a redaction, a change, a redaction": {func(s *events.Stream) {
			e := redacted(t, s.At(last-1), "[redacted:a]")
			e = e.With(&events.ChatRequest{Content: "Mine, and it is secret"})
			s.Set(last-1, redacted(t, e, "Mine"))
		}, map[string]int{"Prompt 1": 0, "Mine": 1}},
	} {
		ours := side(short)
		ours.Stream = short.Stream.Clone()
		change.apply(ours.Stream)
		for _, base := range []threeway.Side{{}, side(all[2]), side(short)} {
			for _, r := range []threeway.Result{
				merged(t, base, ours, side(long)), merged(t, base, side(long), ours),
			} {
				got := map[string]int{}
				for _, e := range r.Stream.All() {
					if q, ok := e.Event().(*events.ChatRequest); ok {
						got[q.Content]++
					}
				}
				for text, n := range change.want {
					if got[text] != n {
						t.Errorf("%s: %q stands %d times, want %d", name, text, got[text], n)
					}
				}
			}
		}
	}
}

// redacted returns a request with only the text that a redaction left.
func redacted(t *testing.T, e *events.Element, left string) *events.Element {
	t.Helper()
	e, _, err := secrets.Replace(e, map[string][]byte{"/content": []byte(left)})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestAnotherImporterCounts checks that the result of a newer importer wins, except over changes
// made by a person.
func TestAnotherImporterCounts(t *testing.T) {
	all := prefixes(t, transcript())
	base, next := all[9], all[len(all)-1]
	newer := side(next)
	newer.Source.Version.Revision++
	newer.Stream = next.Stream.Clone()
	for i, e := range newer.Stream.All() { // the newer importer builds every element differently
		if r, ok := e.Event().(*events.ChatRequest); ok {
			newer.Stream.Set(i, e.With(&events.ChatRequest{Content: r.Content + "!"}))
		}
	}
	for _, r := range []threeway.Result{
		merged(t, threeway.Side{}, side(base), newer), merged(t, threeway.Side{}, newer, side(base)),
	} {
		if !bytes.Equal(r.Stream.Encode(), newer.Stream.Encode()) {
			t.Error("of two imports by different importers not the later one's counts")
		}
	}
	ours := side(base)
	ours.Stream = base.Stream.Clone()
	edited := 0
	for i, e := range ours.Stream.All() {
		if r, ok := e.Event().(*events.ToolCallRequest); ok && edited == 0 {
			edited++
			ours.Stream.Set(i, e.With(&events.ToolCallRequest{ID: r.ID, Name: "Mine"}))
		}
	}
	got := string(merged(t, side(base), ours, newer).Stream.Encode())
	for text, want := range map[string]int{`"Mine"`: 1, `"Prompt 0!"`: 1, `"Prompt 0"`: 0} {
		if n := strings.Count(got, text); n != want {
			t.Errorf("%s stands %d times, want %d", text, n, want)
		}
	}
}

// TestMoreThanTheLabelSays checks that changes made here stay where an importer of a later revision
// had imported less than an earlier one: a merge of both has everything, and the later one's label.
func TestMoreThanTheLabelSays(t *testing.T) {
	lines := bytes.SplitAfter(transcript(), []byte("\n"))
	const turn = 6 // lines
	w := newWorkspace(t)
	im := &Importer{Workspace: w}
	file := filepath.Join(t.TempDir(), "s.jsonl")
	imports := func(turns int) events.ID {
		t.Helper()
		data := bytes.Join(lines[:turns*turn], nil)
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		found, err := claude.Dialect{}.List(t.Context(), file)
		if err != nil || len(found) != 1 {
			t.Fatalf("%d sessions, %v", len(found), err)
		}
		out, err := im.Import(t.Context(), claude.Dialect{}, found[0])
		if err != nil {
			t.Fatal(err)
		}
		return out.Made[0].ID
	}
	id := imports(2)
	label := ""
	update := func(f func(*workspace.Conversation)) {
		t.Helper()
		err := w.Update(t.Context(), id, func(c *workspace.Conversation) error { f(c); return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	update(func(c *workspace.Conversation) { label = c.Details.Labels[sessions.LabelImport] })
	imports(4)
	var want []string
	update(func(c *workspace.Conversation) {
		c.Details.Labels[sessions.LabelImport] = label
		turns := c.Stream.TurnOf()
		for i := c.Stream.Len() - 1; i >= 0; i-- {
			e := c.Stream.At(i)
			switch r, ok := e.Event().(*events.ChatRequest); {
			case turns[i] == 2:
				c.Stream.Remove(i, 1)
			case ok && turns[i] == 3:
				c.Stream.Set(i, e.With(&events.ChatRequest{Content: r.Content + ", edited"}))
			}
		}
		want = said(c.Stream)
	})
	imports(5)
	update(func(c *workspace.Conversation) {
		got := said(c.Stream)
		if len(got) <= len(want) || !slices.Equal(got[:len(want)], want) {
			t.Errorf("says %q\nwant %q, and a further turn", got, want)
		}
	})
}

// TestDifferentSessionsStayApart checks that two sessions with one id are not merged.
func TestDifferentSessionsStayApart(t *testing.T) {
	all := prefixes(t, transcript())
	ours, theirs := side(all[3]), side(all[9])
	theirs.Source.Session = "claude-code-other"
	if _, err := threeway.Merge(threeway.Side{}, ours, theirs); err == nil {
		t.Error("they were united")
	}
}

// TestRootsOfOneSessionMerge merges two imports that differ in $WORKSPACE, because only one machine
// knows the working tree of the session: the import that knows it counts.
func TestRootsOfOneSessionMerge(t *testing.T) {
	there := t.TempDir()
	ran := filepath.Join(there, "proj", "sub")
	s := writeSession(t, bytes.ReplaceAll(transcript(), []byte("/home/ada/proj"), []byte(ran)))
	imported := func() threeway.Side {
		im := &Importer{Workspace: newWorkspace(t)}
		all, err := im.newJob(claude.Dialect{}, s).build(t.Context(), 0, discard{})
		if err != nil {
			t.Fatal(err)
		}
		return side(all[0])
	}
	foreign := imported()
	if err := os.MkdirAll(filepath.Join(there, "proj", ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	own := imported()
	if own.Source.Dir != "sub" || foreign.Source.Dir != "" {
		t.Fatalf("they ran in %q and %q, want sub and the root", own.Source.Dir, foreign.Source.Dir)
	}
	for _, r := range []threeway.Result{
		merged(t, threeway.Side{}, own, foreign), merged(t, threeway.Side{}, foreign, own),
	} {
		if got, want := r.Stream.Encode(), own.Stream.Encode(); !bytes.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// TestRootStays checks that a foreign session keeps the root of its first import as it grows,
// whatever happens to its directory.
func TestRootStays(t *testing.T) {
	there := t.TempDir()
	git, ran := filepath.Join(there, "proj", ".git"), filepath.Join(there, "proj", "sub")
	data := bytes.ReplaceAll(transcript(), []byte("/home/ada/proj"), []byte(ran))
	half := bytes.IndexByte(data[len(data)/2:], '\n') + len(data)/2 + 1
	for _, known := range []bool{true, false} {
		if err := os.MkdirAll(git, 0o700); err != nil {
			t.Fatal(err)
		}
		if !known {
			if err := os.Remove(git); err != nil {
				t.Fatal(err)
			}
		}
		im, whole := &Importer{Workspace: newWorkspace(t)}, &Importer{Workspace: newWorkspace(t)}
		s := writeSession(t, data[:half])
		importOne(t, im, s)
		all := writeSession(t, data)
		importOne(t, whole, all)
		if known {
			if err := os.Remove(git); err != nil {
				t.Fatal(err)
			}
		} else if err := os.MkdirAll(git, 0o700); err != nil {
			t.Fatal(err)
		}
		importOne(t, im, all)
		if got, want := files(t, im), files(t, whole); got != want {
			t.Errorf("root known first: %t: got\n%s\nwant\n%s", known, got, want)
		}
	}
}

func importOne(t *testing.T, im *Importer, s sessions.Session) {
	t.Helper()
	if _, err := im.Import(t.Context(), claude.Dialect{}, s); err != nil {
		t.Fatal(err)
	}
}

// files returns the files of a conversation in the working tree.
func files(t *testing.T, im *Importer) string {
	t.Helper()
	e, _, err := im.find(sessions.Name{Agent: sessions.ClaudeCode, ID: "grow"})
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range []string{"metadata.json", "base_config.json", "events.json"} {
		data, err := os.ReadFile(filepath.Join(im.Workspace.Path(e), name))
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	return all.String()
}
