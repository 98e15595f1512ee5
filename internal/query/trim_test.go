package query_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/google/go-cmp/cmp"
)

// A versions tool returns a longer text with each call.
type versions struct {
	waiter
	n    int
	slow func()
}

func (v *versions) Run(
	_ context.Context, calls []tool.Call, arrived func(int, tool.Result) error,
) ([]tool.Result, error) {
	if v.slow != nil {
		v.slow()
	}
	for i := range calls {
		v.n++
		text := fmt.Sprintf("version %d\n%s", v.n, strings.Repeat("more of it\n", 200))
		if err := arrived(i, tool.OK(text)); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// A trimmed is a conversation that reads the same file repeatedly, on a fake clock.
type trimmed struct {
	stage *stage
	model *player
	tools *versions
	trim  *query.Trim
	at    time.Time
	notes []string
}

func newTrimmed(t *testing.T, schedule compact.Schedule) *trimmed {
	read, done := calls("same"), say(llm.StopEnd, "done")
	m := &player{}
	for range 20 {
		m.acts = append(m.acts, read, done)
	}
	return &trimmed{
		stage: newStage(t, t.TempDir()), model: m, tools: &versions{},
		at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		trim: &query.Trim{
			Schedule: schedule,
			Market: compact.Market{
				Model: m.ID(), Input: 3, Read: 0.3, Write: 3.75, TTL: 5 * time.Minute,
				Gone: 5 * time.Minute, Minimum: 50,
			},
			Rules: func(string) []dedup.Rule { return []dedup.Rule{dedup.Rules()["exact"]} },
		},
	}
}

// ask runs a turn and returns its first request.
func (k *trimmed) ask(t *testing.T, after time.Duration) *llm.Request {
	t.Helper()
	k.at = k.at.Add(after)
	turn := k.stage.turn(k.model, k.tools)
	turn.Now, turn.Trim, turn.Watch = func() time.Time { return k.at }, k.trim, k
	n := len(k.model.asked)
	_, err := turn.Run(t.Context(), query.Prompt{Request: &events.ChatRequest{Content: "again"}})
	if err != nil {
		t.Fatal(err)
	}
	return k.model.asked[n]
}

func (k *trimmed) Sending(*llm.Request)  {}
func (k *trimmed) Delta(llm.Delta)       {}
func (k *trimmed) Saved(*events.Element) {}
func (k *trimmed) Notice(text string)    { k.notes = append(k.notes, text) }

// has counts the versions and the stubs in a request.
func has(r *llm.Request) (versions, stubs int) {
	text := said(r)
	return strings.Count(text, "version "), strings.Count(text, "[superseded] wait")
}

func TestTrimmedWhenCold(t *testing.T) {
	k := newTrimmed(t, compact.Cold)
	k.ask(t, 0)
	k.ask(t, time.Minute)
	if v, s := has(k.ask(t, time.Minute)); v != 2 || s != 0 {
		t.Errorf("warm: %d versions and %d stubs were sent", v, s)
	}
	r := k.ask(t, time.Hour)
	if v, s := has(r); v != 1 || s != 2 {
		t.Errorf("cold: %d versions and %d stubs were sent", v, s)
	}
	if len(k.notes) != 1 || !strings.Contains(k.notes[0], "2 superseded results") {
		t.Errorf("told %q", k.notes)
	}
	// Results that were left out stay out, and the prompt keeps its bytes.
	again := k.ask(t, time.Minute)
	if diff := cmp.Diff(r.Messages, again.Messages[:len(r.Messages)], same()); diff != "" {
		t.Errorf("what was sent changed:\n%s", diff)
	}
	if v, _ := has(again); v != 2 {
		t.Errorf("%d versions were sent", v)
	}
	// The record has everything.
	stored := k.stage.stored(t)
	for n := range k.tools.n {
		if !strings.Contains(stored, fmt.Sprintf("version %d", n+1)) {
			t.Errorf("version %d is not in the record", n+1)
		}
	}
}

// TestLongToolsCoolTheCache checks that time within a turn counts too.
func TestLongToolsCoolTheCache(t *testing.T) {
	k := newTrimmed(t, compact.Cold)
	k.ask(t, 0)
	k.tools.slow = func() { k.at = k.at.Add(10 * time.Minute) }
	k.ask(t, 0)
	last := k.model.asked[len(k.model.asked)-1]
	if v, s := has(last); v != 1 || s != 1 {
		t.Errorf("%d versions and %d stubs were sent after ten minutes", v, s)
	}
}

func TestTrimmedBySchedule(t *testing.T) {
	for name, test := range map[string]struct {
		schedule        compact.Schedule
		change          func(*query.Trim)
		versions, stubs int
	}{
		"never": {compact.Never, nil, 3, 0},
		"eager": {compact.Eager, nil, 1, 2},
		"never, but the window is full": {
			compact.Never, func(o *query.Trim) { o.Window = 1500 }, 1, 2,
		},
		"balanced, where reading costs nothing less": {
			compact.Balanced, func(o *query.Trim) { o.Market.Read, o.Market.Write = 3, 3 }, 1, 2,
		},
		"balanced": {compact.Balanced, nil, 3, 0},
		"cold, and nobody knows the model": {
			compact.Cold, func(o *query.Trim) { o.Market = compact.Market{} }, 3, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := newTrimmed(t, test.schedule)
			if test.change != nil {
				test.change(k.trim)
			}
			k.ask(t, 0)
			k.ask(t, time.Minute)
			k.ask(t, time.Minute)
			if v, s := has(k.ask(t, time.Minute)); v != test.versions || s != test.stubs {
				t.Errorf("%d versions and %d stubs were sent, want %d and %d",
					v, s, test.versions, test.stubs)
			}
		})
	}
}

// A copied record has its own stream, and the blobs of another record.
type copied struct {
	stream *events.Stream
	of     query.Record
}

func (c copied) Stream() *events.Stream                  { return c.stream }
func (c copied) Save(f func(*events.Stream) error) error { return f(c.stream) }
func (c copied) Contents() blobs.Reader                  { return c.of.Contents() }

// TestTrimmedComesBack checks that results that were left out are delivered again if their
// replacement is not: in a conversation without its last turns, and where an overlay hides them.
func TestTrimmedComesBack(t *testing.T) {
	k := newTrimmed(t, compact.Eager)
	for range 3 {
		k.ask(t, time.Minute)
	}
	if v, s := has(k.ask(t, time.Minute)); v != 1 || s != 2 {
		t.Fatalf("%d versions and %d stubs were sent", v, s)
	}
	loaded, err := k.stage.workspace.Load(k.stage.entry)
	if err != nil {
		t.Fatal(err)
	}
	whole := loaded.Stream
	hidden := whole.Clone()
	hidden.Append(events.NewElement(k.at, &events.Compaction{
		FromTurn: 2, ToTurn: len(whole.Turns()) - 1,
		ToolCalls: &events.ToolCallPolicy{Request: true, Response: true},
	}, events.Metadata{}))
	for name, s := range map[string]*events.Stream{
		"without the last turns": events.New(slices.Collect(elements(whole, whole.Turns()[2].First))...),
		"with them hidden":       hidden,
	} {
		turn := query.Turn{
			Record: copied{s, k.stage.turn(k.model, k.tools).Record}, Model: k.model, Root: t.TempDir(),
			Now: func() time.Time { return k.at },
		}
		r, _, err := turn.Explain(query.Prompt{Request: &events.ChatRequest{Content: "again"}})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(said(r), "version 2\n") || strings.Contains(said(r), "version 1\n") {
			t.Errorf("%s: the second version is not there, or the first one is:\n%s", name, said(r))
		}
	}
}

// TestWhatWasSentIsKept checks that the next turn knows whether the prompt is still in the
// provider's cache.
func TestWhatWasSentIsKept(t *testing.T) {
	k := newTrimmed(t, compact.Cold)
	k.ask(t, 0)
	c, err := k.stage.workspace.Load(k.stage.entry)
	if err != nil {
		t.Fatal(err)
	}
	sent, ok := compact.LastSent(c.Stream)
	if !ok || sent.Model != k.model.ID() || sent.Prefix == "" || sent.Tools == "" || !sent.At.Equal(k.at) {
		t.Errorf("kept %+v", sent)
	}
	k.trim.Market.Gone = 1000 * time.Hour
	k.ask(t, time.Minute)
	turn := k.stage.turn(k.model, nil) // no tools: the prompt has nothing in common with the cache
	turn.Now, turn.Trim = func() time.Time { return k.at.Add(time.Minute) }, k.trim
	r, _, err := turn.Explain(query.Prompt{Request: &events.ChatRequest{Content: "and now"}})
	if err != nil {
		t.Fatal(err)
	}
	if v, s := has(r); v != 1 || s != 1 {
		t.Errorf("with other tools %d versions and %d stubs are sent", v, s)
	}
}

// TestTheProviderSaysHowMuchFits checks that the provider is asked for the window once in a turn in
// which it may matter, and not in other turns.
func TestTheProviderSaysHowMuchFits(t *testing.T) {
	k := newTrimmed(t, compact.Never)
	asked := 0
	k.trim.Offered = func() int64 { asked++; return 2000 }
	k.ask(t, 0)
	k.ask(t, time.Minute)
	if asked != 0 {
		t.Errorf("it was asked %d times about a short conversation", asked)
	}
	for turn := range 4 {
		before := asked
		k.trim.Window = 0 // each process begins with the value from the table
		k.ask(t, time.Minute)
		if asked > before+1 {
			t.Errorf("turn %d: it was asked %d times", turn, asked-before)
		}
	}
	if last := k.model.asked[len(k.model.asked)-1]; asked == 0 || !strings.Contains(said(last), "[superseded] wait") {
		t.Errorf("nothing was left out after %d questions", asked)
	}
}
