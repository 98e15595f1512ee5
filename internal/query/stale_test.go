package query_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

const staleURI = "file:///$WORKSPACE/a.go"

// edited is a conversation that read a file and changed it, with elements from a time on.
func edited(at time.Time) *events.Stream {
	s := events.New()
	add := func(ev events.Event) {
		s.Append(events.NewElement(at, ev, events.Metadata{}))
		at = at.Add(time.Second)
	}
	call := func(id, tool, args string, b events.Block) {
		add(&events.ToolCallRequest{ID: id, Name: tool, Arguments: jsontext.Value(args)})
		add(&events.ToolCallResponse{ID: id, Blocks: []events.Block{b}})
	}
	was := events.Resource{URI: staleURI, Content: blobs.Loaded([]byte("was\n" + strings.Repeat("a line of it\n", 300)))}
	add(&events.TurnStart{})
	add(&events.ChatRequest{Content: "change it"})
	call("c1", "fs_read_file", `{"path":"a.go"}`, events.Block{Type: events.BlockResource, Resource: &was})
	call("c2", "fs_modify_file", `{"path":"a.go","patterns":[]}`, events.Block{Type: events.BlockText, Content: blobs.Loaded([]byte("done"))})
	add(&events.ChatResponse{Text: "changed"})
	return s
}

// TestStaleReadsAreRefreshed checks that a question, asked when the provider's cache has expired,
// has the current content of the file that was worked on, that a stub naming it replaces the stale
// read, and that nothing before the question shows later content.
func TestStaleReadsAreRefreshed(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	is := events.Resource{URI: staleURI, Content: blobs.Loaded([]byte("is\n" + strings.Repeat("a line of it\n", 200)))}
	for name, test := range map[string]struct {
		after   time.Duration
		current func(string) (events.Resource, error)
		stub    bool
	}{
		"forgotten":        {time.Hour, func(string) (events.Resource, error) { return is, nil }, true},
		"not forgotten":    {time.Minute, func(string) (events.Resource, error) { return is, nil }, false},
		"it is not there":  {time.Hour, func(string) (events.Resource, error) { return is, errors.New("gone") }, false},
		"nobody may look":  {time.Hour, nil, false},
		"it is much more":  {time.Hour, func(string) (events.Resource, error) { return large(is), nil }, false},
		"it is not text":   {time.Hour, func(string) (events.Resource, error) { return latin(is), nil }, false},
		"it is not a file": {time.Hour, func(string) (events.Resource, error) { return events.Resource{URI: "x:y"}, nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			k := newTrimmed(t, compact.Cold)
			k.trim.Rules, k.trim.Current = compact.DefaultRules, test.current
			record := copied{edited(at), k.stage.turn(k.model, k.tools).Record}
			k.at = at.Add(test.after)
			turn := k.stage.turn(k.model, nil)
			turn.Record, turn.Trim, turn.Now, turn.Watch = record, k.trim, func() time.Time { return k.at }, k
			k.model.acts = []act{say("", "fine"), say("", "fine")}
			if _, err := turn.Run(t.Context(), query.Prompt{Request: &events.ChatRequest{Content: "and now?"}}); err != nil {
				t.Fatal(err)
			}
			text := said(k.model.asked[0])
			before, question, _ := strings.Cut(text, "assistant: changed")
			if got := strings.Contains(before, "[superseded] fs_read_file: the file was changed after this, a later message has it: a.go"); got != test.stub {
				t.Errorf("there is a stub: %t\n%s", got, text)
			}
			if strings.Contains(before, "was\n") == test.stub || strings.Contains(before, "is\n") ||
				strings.Contains(question, "is\n") != test.stub {
				t.Errorf("sent was\n%s", text)
			}
			if err := record.stream.Validate(); err != nil {
				t.Error(err)
			}
			k.keepsItsBytes(t, turn, is)
		})
	}
}

// keepsItsBytes asks once more, and checks that the request keeps its bytes, whatever happens to the
// file.
func (k *trimmed) keepsItsBytes(t *testing.T, turn *query.Turn, is events.Resource) {
	t.Helper()
	k.trim.Current = func(string) (events.Resource, error) { return large(is), nil }
	k.at = k.at.Add(time.Second)
	if _, err := turn.Run(t.Context(), query.Prompt{Request: &events.ChatRequest{Content: "and then?"}}); err != nil {
		t.Fatal(err)
	}
	first, second := k.model.asked[0].Messages, k.model.asked[1].Messages
	if diff := cmp.Diff(first, second[:len(first)], same()); diff != "" {
		t.Errorf("what was sent changed:\n%s", diff)
	}
}

// TestStaleReadsAreRefreshedWithinATurn checks that a turn which continues after a long time, as
// when a tool took an hour, has the current content of the file after the results of tools; and
// that a turn which continues at once keeps its reads.
func TestStaleReadsAreRefreshedWithinATurn(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	is := events.Resource{URI: staleURI, Content: blobs.Loaded([]byte("is\n" + strings.Repeat("a line of it\n", 200)))}
	for name, test := range map[string]struct {
		after     time.Duration
		window    int64
		refreshed bool
	}{
		"after an hour":     {time.Hour, 0, true},
		"at once":           {time.Minute, 0, false},
		"it would overflow": {time.Minute, 1200, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := edited(at)
			s.Remove(s.Len()-1, 1) // the turn is not over
			k := newTrimmed(t, compact.Cold)
			k.trim.Rules, k.trim.Window = compact.DefaultRules, test.window
			k.trim.Current = func(string) (events.Resource, error) { return is, nil }
			record := copied{s, k.stage.turn(k.model, k.tools).Record}
			k.model.acts = []act{say("", "fine"), say("", "fine")}
			turn := k.stage.turn(k.model, nil)
			turn.Record, turn.Trim, turn.Now, turn.Watch = record, k.trim, func() time.Time { return k.at }, k
			turns := len(s.Turns())
			k.at = at.Add(test.after)
			if _, err := turn.Run(t.Context(), query.Prompt{}); err != nil {
				t.Fatal(err)
			}
			last := k.model.asked[0].Messages[len(k.model.asked[0].Messages)-1]
			text := said(k.model.asked[0])
			before, behind, _ := strings.Cut(text, "done")
			if got := strings.Contains(before, "a later message has it: a.go"); got != test.refreshed ||
				strings.Contains(before, "was\n") == got || strings.Contains(behind, "is\n") != got {
				t.Errorf("refreshed: %t\n%s", got, text)
			}
			if err := record.stream.Validate(); err != nil || last.Role != llm.RoleUser || len(record.stream.Turns()) != turns {
				t.Errorf("%d turns, %v, the last message is of %s", len(record.stream.Turns()), err, last.Role)
			}
			k.trim.Window = 0
			k.keepsItsBytes(t, turn, is)
		})
	}
}

// TestWhatWasToldByLinesIsRestored checks that if a read is removed, a result that referred to its
// lines is delivered in full in the same request, and stays so.
func TestWhatWasToldByLinesIsRestored(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	line := func(from, to int) string {
		var b strings.Builder
		for i := from; i <= to; i++ {
			fmt.Fprintf(&b, "line %d of it\n", i)
		}
		return b.String()
	}
	s := edited(at)
	was, ok := s.At(3).Event().(*events.ToolCallResponse)
	if !ok {
		t.Fatal("no read")
	}
	all := events.Resource{
		URI: was.Blocks[0].Resource.URI, Content: blobs.Loaded([]byte(line(1, 300))),
	}
	s.Set(3, s.At(3).With(&events.ToolCallResponse{
		ID: was.ID, Blocks: []events.Block{{Type: events.BlockResource, Resource: &all}},
	}))
	later := func(ev events.Event) {
		s.Append(events.NewElement(at.Add(time.Duration(s.Len())*time.Second), ev, events.Metadata{}))
	}
	part := events.Resource{URI: staleURI + "#L100-130", Content: blobs.Loaded([]byte(line(100, 130)))}
	later(&events.TurnStart{})
	later(&events.ChatRequest{Content: "look"})
	later(&events.ToolCallRequest{ID: "c3", Name: "fs_read_file", Arguments: jsontext.Value(`{"path":"a.go","start_line":100,"end_line":130}`)})
	later(&events.ToolCallResponse{ID: "c3", Blocks: []events.Block{{Type: events.BlockResource, Resource: &part}}})
	later(&events.ChatResponse{Text: "seen"})
	k := newTrimmed(t, compact.Cold)
	k.trim.Rules = compact.DefaultRules
	record := copied{s, k.stage.turn(k.model, k.tools).Record}
	turn := k.stage.turn(k.model, nil)
	turn.Dedup = dedup.Options{Enabled: true, MinBytes: 300, Lookback: 30, Lines: true}
	turn.Record, turn.Trim, turn.Now, turn.Watch = record, k.trim, func() time.Time { return k.at }, k
	for n, after := range []time.Duration{time.Minute, time.Minute, time.Hour, time.Minute} {
		k.model.acts = append(k.model.acts[:n], say("", "fine"))
		k.at = s.At(s.Len() - 1).Time().Add(after)
		if _, err := turn.Run(t.Context(), query.Prompt{Request: &events.ChatRequest{Content: "and now?"}}); err != nil {
			t.Fatal(err)
		}
		text := said(k.model.asked[n])
		trimmed := n >= 2
		if strings.Contains(text, "the file was changed after this") != trimmed ||
			strings.Contains(text, "lines 100-130 there") == trimmed || strings.Contains(text, "line 99 of") == trimmed ||
			!strings.Contains(text, "line 120 of it") {
			t.Errorf("request %d is\n%s", n, text)
		}
	}
	first, second := k.model.asked[2].Messages, k.model.asked[3].Messages
	if diff := cmp.Diff(first, second[:len(first)], same()); diff != "" {
		t.Errorf("what was sent changed:\n%s", diff)
	}
}

// TestUndoGivesBackWhatWentForRoom checks that stale reads that were removed because the window was
// full can be restored, byte for byte, and that those removed for other reasons stay away.
func TestUndoGivesBackWhatWentForRoom(t *testing.T) {
	for window, want := range map[int64]int{1200: 1, 0: 0} {
		k := newTrimmed(t, compact.Cold)
		k.trim.Rules, k.trim.Window = compact.DefaultRules, window
		before := edited(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		// The conversation no longer works on the file.
		for _, ev := range []events.Event{
			&events.TurnStart{}, &events.ChatRequest{Content: "thanks"}, &events.ChatResponse{Text: "fine"},
		} {
			before.Append(events.NewElement(time.Date(2026, 1, 1, 0, 1, 0, 0, time.UTC), ev, events.Metadata{}))
		}
		turn := k.stage.turn(k.model, nil)
		turn.Record, turn.Trim, turn.Watch = copied{before.Clone(), turn.Record}, k.trim, k
		k.at = time.Date(2026, 1, 1, 0, 1, 1, 0, time.UTC)
		if window == 0 {
			k.at = k.at.Add(time.Hour) // the provider's cache has expired
		}
		turn.Now = func() time.Time { return k.at }
		k.model.acts = []act{say("", "fine")}
		if _, err := turn.Run(t.Context(), query.Prompt{Request: &events.ChatRequest{Content: "and now?"}}); err != nil {
			t.Fatal(err)
		}
		if text := said(k.model.asked[0]); !strings.Contains(text, "[superseded] fs_read_file") {
			t.Fatalf("nothing went:\n%s", text)
		}
		back, n := dedup.Returned(turn.Record.Stream())
		if n != want {
			t.Errorf("window %d: %d came back, want %d", window, n, want)
		}
		if got, was := back.At(3).Raw(), before.At(3).Raw(); want == 1 && string(got) != string(was) {
			t.Errorf("got %s, want %s", got, was)
		}
	}
}

// latin is a resource with one byte that is not UTF-8, which no model is given.
func latin(r events.Resource) events.Resource {
	r.Content = blobs.Loaded([]byte("is caf\xe9\n"))
	return r
}

// large is a longer version of a resource.
func large(r events.Resource) events.Resource {
	r.Content = blobs.Loaded([]byte(strings.Repeat("is more\n", 9000)))
	return r
}
