package importer

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/claude"
	"github.com/google/go-cmp/cmp"
)

// compacted is a session whose third turn is compacted in the middle: the agent keeps what comes
// from a record on.
func compacted(kept string) []byte {
	lines := slices.Collect(bytes.Lines(transcript()))
	const perTurn = 6
	boundary := fmt.Sprintf(`{"type":"system","subtype":"compact_boundary","uuid":"77777777-0000-4000-8000-777777777771",`+
		`"parentUuid":null,"sessionId":"grow","timestamp":"2026-05-02T10:00:15.2Z","cwd":"/home/ada/proj",`+
		`"compactMetadata":{"preservedMessages":{"uuids":[%q]}}}`+"\n", kept)
	summary := `{"type":"user","uuid":"77777777-0000-4000-8000-777777777772","isCompactSummary":true,` +
		`"parentUuid":"77777777-0000-4000-8000-777777777771","sessionId":"grow","timestamp":"2026-05-02T10:00:15.4Z",` +
		`"cwd":"/home/ada/proj","message":{"role":"user","content":"So far."}}` + "\n"
	return bytes.Join(slices.Insert(lines, 2*perTurn+3, []byte(boundary), []byte(summary)), nil)
}

// uuidOf returns the uuid of a record of the transcript.
func uuidOf(n int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", n*7919, n) }

// TestCompactionThatKeepsTheEnd checks that imports of a session merge as always if a compaction
// divides a turn of it: from a result on, from an answer on, or in the turn that goes on.
func TestCompactionThatKeepsTheEnd(t *testing.T) {
	firsts := []int{10, 11, 14}
	if os.Getenv("GIT_JP_SOAK") == "" {
		firsts = firsts[1:2]
	}
	for _, first := range firsts {
		all := prefixes(t, compacted(uuidOf(first)))
		mergeAll(t, all)
		last := all[len(all)-1]
		for i, c := range all {
			if c.Stream.Len() == 0 {
				continue
			}
			for name, sides := range changed(t, c) {
				for _, r := range []threeway.Result{
					merged(t, side(c), sides, side(last)), merged(t, side(c), side(last), sides),
				} {
					checkKept(t, fmt.Sprintf("from record %d, line %d, %s", first, i+1, name), r.Stream, last.Stream)
				}
			}
		}
	}
}

// changed returns what a person may have done with an import.
func changed(t *testing.T, c *sessions.Conversation) map[string]threeway.Side {
	t.Helper()
	at := c.Stream.At(c.Stream.Len() - 1).Time().Add(500 * time.Millisecond)
	asked, edited := side(c), side(c)
	asked.Stream = c.Stream.Clone()
	asked.Stream.Append(
		events.NewElement(at, &events.TurnStart{}, events.Metadata{}),
		events.NewElement(at.Add(time.Microsecond), &events.ChatRequest{Content: "Mine"}, events.Metadata{}),
	)
	edited.Stream = c.Stream.Clone()
	for i, e := range c.Stream.All() {
		if r, ok := e.Event().(*events.ChatResponse); ok && r.Text == "Done" {
			edited.Stream.Set(i, e.With(&events.ChatResponse{Form: r.Form, Text: "Mine"}))
		}
	}
	return map[string]threeway.Side{"asked": asked, "edited": edited}
}

// checkKept checks that a result says what the source does, once, or what was said here in its place.
func checkKept(t *testing.T, name string, got, want *events.Stream) {
	t.Helper()
	said := func(s *events.Stream) (n map[string]int) {
		n = map[string]int{}
		for _, e := range s.All() {
			switch ev := e.Event().(type) {
			case *events.ChatRequest:
				n["ask "+ev.Content]++
			case *events.ChatResponse:
				n["say "+ev.Text]++
			case *events.ToolCallRequest, *events.ToolCallResponse:
				n[string(e.Kind())]++
			case *events.Compaction:
				n["summary"]++
			}
		}
		return n
	}
	has, source := said(got), said(want)
	if has["say Done"]+has["say Mine"] != source["say Done"] {
		t.Errorf("%s: answers are %v, in the source %v", name, has, source)
	}
	for _, key := range []string{"say Done", "say Mine", "ask Mine"} {
		delete(has, key)
		delete(source, key)
	}
	if fmt.Sprint(has) != fmt.Sprint(source) {
		t.Errorf("%s: it says %v, the source %v", name, has, source)
	}
}

// TestImportedAgainKeepsTheEnd imports again what an earlier importer imported, for which a
// compaction covered all turns: it covers what it would in one import, and a compaction of the
// person stays.
func TestImportedAgainKeepsTheEnd(t *testing.T) {
	data := compacted(uuidOf(11))
	want, got := newWorkspace(t), newWorkspace(t)
	grows(t, want, ofClaude, data)
	grows(t, got, ofClaude, bytes.ReplaceAll(data, []byte("compactMetadata"), []byte("compactMetadatX")))
	relabel(t, got, "4")
	s := writeSession(t, data)
	s.Dir = "/home/ada/proj"
	if _, err := (&Importer{Workspace: got, Fresh: true}).Import(t.Context(), claude.Dialect{}, s); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(has(t, want), has(t, got)); diff != "" {
		t.Errorf("-one import +two importers:\n%s", diff)
	}
	mine := "Mine"
	id := conversations(t, got)["claude-code-grow"].ID
	change(t, got, id, func(s *events.Stream) {
		at := s.At(s.Len() - 1).Time()
		s.Append(events.NewElement(at, &events.Compaction{ToTurn: 1, Summary: &mine}, events.Metadata{}))
	})
	relabel(t, got, "4")
	if _, err := (&Importer{Workspace: got, Fresh: true}).Import(t.Context(), claude.Dialect{}, s); err != nil {
		t.Fatal(err)
	}
	covered := map[string]int{}
	for _, e := range loaded(t, got, id).Stream.All() {
		if c, ok := e.Event().(*events.Compaction); ok {
			covered[*c.Summary] = c.ToTurn
		}
	}
	if diff := cmp.Diff(map[string]int{"So far.": 1, mine: 1}, covered); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestRandomSessionsImportedAgain imports random sessions again for which an earlier importer let each
// compaction cover all turns before it: that gives what one import gives.
func TestRandomSessionsImportedAgain(t *testing.T) {
	seeds := uint64(20)
	if os.Getenv("GIT_JP_SOAK") != "" {
		seeds = 100
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			data := randomSession(seed, 9+int(seed%9))
			want, got := newWorkspace(t), newWorkspace(t)
			grows(t, want, ofClaude, data)
			grows(t, got, ofClaude, bytes.ReplaceAll(data, []byte("compactMetadata"), []byte("compactMetadatX")))
			relabel(t, got, "4")
			s := writeSession(t, data)
			s.Dir = "/home/ada/proj"
			again := &Importer{Workspace: got, Fresh: true}
			if _, err := again.Import(t.Context(), claude.Dialect{}, s); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(has(t, want), has(t, got)); diff != "" {
				t.Errorf("-one import +two importers:\n%s", diff)
			}
		})
	}
}

// TestOlderCopyImportedAgain: an older copy of a session that is imported again removes nothing
// that was said since.
func TestOlderCopyImportedAgain(t *testing.T) {
	data := compacted(uuidOf(11))
	for n := range bytes.Count(data, []byte("\n")) {
		w := newWorkspace(t)
		grows(t, w, ofClaude, data)
		before := has(t, w)
		s := writeSession(t, bytes.Join(bytes.SplitAfter(data, []byte("\n"))[:n+1], nil))
		s.Dir = "/home/ada/proj"
		if _, err := (&Importer{Workspace: w, Fresh: true}).Import(t.Context(), claude.Dialect{}, s); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, has(t, w)); diff != "" {
			t.Errorf("%d lines: -before +after:\n%s", n+1, diff)
		}
	}
}
