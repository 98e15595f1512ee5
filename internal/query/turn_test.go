package query_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/workspace"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// An act is one answer of a scripted model.
type act func(a *llm.Assembler) error

// A player is a model that follows a script and keeps the requests.
type player struct {
	acts  []act
	asked []*llm.Request
	// before is called when a request arrives.
	before func()
	deaf   bool // ends as it would, also if it is cancelled
}

func (p *player) ID() string { return "test/player" }

func (p *player) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		if p.before != nil {
			p.before()
		}
		n := len(p.asked)
		p.asked = append(p.asked, r)
		if n >= len(p.acts) {
			n = len(p.acts) - 1
		}
		left := false
		a := llm.NewAssembler(r, func(d llm.Delta, _ error) bool {
			left = left || !yield(d, nil)
			return !left
		})
		if err := p.acts[n](a); left {
			return
		} else if err != nil {
			yield(llm.Delta{}, err)
		} else if ctx.Err() != nil && !p.deaf {
			yield(llm.Delta{}, ctx.Err())
		}
	}
}

func say(reason llm.StopReason, texts ...string) act {
	return func(a *llm.Assembler) error {
		for i, text := range texts {
			a.Start(i, llm.PartText, "", "")
			a.Append(i, text)
			a.End(i)
		}
		a.Spent(llm.Usage{Input: 10, Output: 2, Model: "player"})
		a.Settle()
		a.Stop(llm.Stop{Reason: reason})
		return nil
	}
}

// continuedAndRefused is an answer in two exchanges, the second of which is refused.
func continuedAndRefused(a *llm.Assembler) error {
	a.Start(0, llm.PartReasoning, "", "")
	a.Append(0, "hm")
	a.End(0)
	a.Start(1, llm.PartText, "", "")
	a.Append(1, "one two")
	a.Keep(1)
	a.Append(1, " three")
	a.End(1)
	a.Start(2, llm.PartText, "", "")
	a.Append(2, "four")
	a.End(2)
	a.Spent(llm.Usage{Input: 10, Output: 2, Model: "player"})
	a.Settle()
	a.Stop(llm.Stop{Reason: llm.StopRefusal})
	return nil
}

// calls makes calls that are written "id:argument"; the last call ends first.
func calls(ids ...string) act {
	return func(a *llm.Assembler) error {
		a.Start(0, llm.PartReasoning, "", "")
		a.Append(0, "hm")
		for i, id := range ids {
			a.Start(i+1, llm.PartCall, id, "wait")
			a.Append(i+1, `{"id":"`+id+`"}`)
		}
		a.End(0)
		for i := len(ids); i > 0; i-- {
			a.End(i)
		}
		a.Stop(llm.Stop{Reason: llm.StopTools})
		return nil
	}
}

// breaks sends half a sentence and fails.
func breaks(text string, err error) act {
	return func(a *llm.Assembler) error {
		a.Start(0, llm.PartText, "", "")
		a.Append(0, text)
		return err
	}
}

// A waiter is the tool "wait", whose calls end in the given order.
type waiter struct{ order []string }

func (w waiter) Definitions() []tool.Definition {
	return []tool.Definition{{Name: "wait", Schema: jsontext.Value(`{"type":"object"}`)}}
}

func (w waiter) Run(
	ctx context.Context, calls []tool.Call, arrived func(int, tool.Result) error,
) ([]tool.Result, error) {
	for _, id := range w.order {
		for i, c := range calls {
			if c.ID != id {
				continue
			}
			if err := arrived(i, tool.OK("result of "+id)); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
}

// A stage is a workspace with one conversation that is held.
type stage struct {
	workspace *workspace.Workspace
	hold      *workspace.Hold
	entry     workspace.Entry
}

func newStage(t testing.TB, root string) *stage {
	t.Helper()
	env := workspace.Env{Getenv: func(string) string { return "" }, Now: time.Now, Dir: root}
	if _, err := workspace.Init(root, env); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(root, env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	s := &stage{workspace: w}
	list, _, err := w.List(workspace.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) > 0 {
		s.entry = list[0]
	} else if s.entry, err = w.Create(t.Context(), &workspace.NewConversation{
		Details: &events.Details{LastActivatedAt: time.Now()},
	}); err != nil {
		t.Fatal(err)
	}
	if s.hold, err = w.Hold(t.Context(), s.entry.ID); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.hold.Release() })
	return s
}

func (s *stage) turn(m llm.Model, tools query.Tools) *query.Turn {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return &query.Turn{
		Resume: true,
		Record: repeated{query.Held(s.workspace, s.hold, nil)}, Model: m, Tools: tools, Root: s.workspace.Root(),
		Dedup: dedup.Options{Enabled: true, MinBytes: 300, Lookback: 30},
		Now:   func() time.Time { at = at.Add(time.Second); return at },
	}
}

// repeated runs each change twice, like a save before which another process changed a file.
type repeated struct{ query.Record }

func (r repeated) Save(change func(*events.Stream) error) error {
	if err := change(r.Stream().Clone()); err != nil {
		return err
	}
	return r.Record.Save(change)
}

// stored returns the conversation on disk, a line for each event.
func (s *stage) stored(t testing.TB) string {
	t.Helper()
	c, err := s.workspace.Load(s.entry)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Stream.Validate(); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range c.Stream.All() {
		b.WriteString(s.line(t, e))
	}
	return b.String()
}

func (s *stage) line(t testing.TB, e *events.Element) string {
	marks := ""
	for _, key := range e.Metadata().Keys() {
		marks += " +" + strings.TrimPrefix(key, "git_jp_")
	}
	switch ev := e.Event().(type) {
	case *events.TurnStart:
		return "turn\n"
	case *events.ChatRequest:
		return "ask " + ev.Content + "\n"
	case *events.ChatResponse:
		if ev.Form == events.FormData {
			return fmt.Sprintf("say %s%s\n", ev.Data, marks)
		}
		return fmt.Sprintf("say %s%s\n", ev.Text, marks)
	case *events.ToolCallRequest:
		return fmt.Sprintf("call %s%s\n", ev.ID, marks)
	case *events.ToolCallResponse:
		text, err := ev.Text(s.workspace.Blobs())
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("result %s %s\n", ev.ID, text)
	default:
		return fmt.Sprintf("%s\n", e.Kind())
	}
}

func ask(text string) query.Prompt {
	return query.Prompt{Request: &events.ChatRequest{Content: text}}
}

// transient returns an error after which a retry may succeed.
func transient() error { return &wire.CutError{Provider: "test"} }

func TestTurn(t *testing.T) {
	schema := jsontext.Value(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	structured := query.Prompt{Request: &events.ChatRequest{Content: "q", Schema: schema}}
	for name, c := range map[string]struct {
		prompt query.Prompt
		acts   []act
		tools  query.Tools
		set    func(*query.Turn)
		want   string // stored
		text   string
		err    any // target of errors.As, nil for none
	}{
		"an answer": {
			prompt: ask("q"), acts: []act{say(llm.StopEnd, "one", "two")},
			want: "turn\nask q\nsay one\nsay two +usage\n", text: "two",
		},
		"parallel calls": {
			prompt: ask("q"), tools: waiter{[]string{"c", "a", "b"}},
			acts: []act{calls("a", "b", "c"), say(llm.StopEnd, "done")},
			want: "turn\nask q\nsay hm\ncall a\ncall b\ncall c\nresult a result of a\n" +
				"result b result of b\nresult c result of c\nsay done +usage\n",
			text: "done",
		},
		"calls without tools": {
			prompt: ask("q"), acts: []act{calls("a"), say(llm.StopEnd, "done")},
			want: "turn\nask q\nsay hm\ncall a\n" +
				"result a Tool 'wait' is not available. There are no tools.\nsay done +usage\n",
			text: "done",
		},
		"an answer that breaks off": {
			prompt: ask("q"),
			acts:   []act{breaks("It is in index", transient()), say(llm.StopEnd, "in index.go, line 5.")},
			want:   "turn\nask q\nsay It is in index.go, line 5. +usage\n", text: "It is in index.go, line 5.",
		},
		"an answer that keeps breaking off": {
			prompt: ask("q"), acts: []act{breaks("x", transient())},
			want: "turn\nask q\nsay xxxx +interrupted\n", text: "xxxx", err: new(*wire.CutError),
		},
		"a fault that does not pass": {
			prompt: ask("q"), acts: []act{breaks("half", &llm.APIError{Status: 400, Message: "no"})},
			want: "turn\nask q\nsay half +interrupted\n", text: "half", err: new(*llm.APIError),
		},
		"a limit that is reached": {
			prompt: ask("q"),
			acts:   []act{say(llm.StopMaxTokens, "one two three "), say(llm.StopEnd, "three four")},
			want:   "turn\nask q\nsay one two three four +usage\n", text: "one two three four",
		},
		"a limit that is reached for ever": {
			prompt: ask("q"), acts: []act{say(llm.StopMaxTokens, "x")},
			set:  func(t *query.Turn) { t.Continue = 2 },
			want: "turn\nask q\nsay xxx +usage\n", text: "xxx",
		},
		"a refusal": {
			prompt: ask("q"), acts: []act{say(llm.StopRefusal, "I")},
			want: "turn\nask q\n", err: new(*llm.RefusalError),
		},
		"a refusal of what follows the limit": {
			prompt: ask("q"),
			acts:   []act{say(llm.StopMaxTokens, "one two three "), say(llm.StopRefusal, "three four")},
			want:   "turn\nask q\nsay one two three  +usage\n", text: "one two three ",
			err: new(*llm.RefusalError),
		},
		"a refusal of what the provider continued": {
			prompt: ask("q"), acts: []act{continuedAndRefused},
			want: "turn\nask q\nsay hm\nsay one two +usage\n", text: "one two",
			err: new(*llm.RefusalError),
		},
		"a full window": {
			prompt: ask("q"), acts: []act{say(llm.StopOverflow, "half")},
			want: "turn\nask q\nsay half +usage\n", text: "half", err: new(*llm.OverflowError),
		},
		"tools without end": {
			prompt: ask("q"), tools: waiter{[]string{"a"}}, acts: []act{calls("a")},
			set: func(t *query.Turn) { t.Cycles = 2 },
			want: "turn\nask q\nsay hm\ncall a\nresult a result of a\nsay hm\ncall a\n" +
				"result a result of a\n",
			err: new(error),
		},
		"data": {
			prompt: structured, acts: []act{say(llm.StopEnd, `{"n":1}`)},
			want: "turn\nask q\nsay {\"n\":1} +usage\n",
		},
		"data that is mended": {
			prompt: structured, acts: []act{say(llm.StopEnd, `{"n":"one"}`), say(llm.StopEnd, `{"n":1}`)},
			want: "turn\nask q\nsay {\"n\":\"one\"} +usage\n" +
				"ask Your answer does not follow the schema: validating " +
				"/properties/n: type: one has type \"string\", want \"integer\". Answer again, " +
				"with nothing but JSON that follows it.\nsay {\"n\":1} +usage\n",
		},
		"data that cannot be mended": {
			prompt: structured, acts: []act{say(llm.StopEnd, `[]`)},
			want: "turn\nask q\nsay [] +usage\n" +
				"ask Your answer does not follow the schema: type: [] has type " +
				"\"array\", want \"object\". Answer again, with nothing but JSON that follows " +
				"it.\nsay [] +usage\n",
			err: new(*query.SchemaError),
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, t.TempDir())
			turn := s.turn(&player{acts: c.acts}, c.tools)
			if c.set != nil {
				c.set(turn)
			}
			a, err := turn.Run(t.Context(), c.prompt)
			if errors.Is(err, query.ErrCycles) && !strings.HasSuffix(err.Error(), "after 2 requests") {
				t.Errorf("%v, want how many requests there were", err)
			}
			if (err != nil) != (c.err != nil) || err != nil && !errors.As(err, c.err) {
				t.Errorf("error %v", err)
			}
			if a.Text != c.text {
				t.Errorf("text %q, want %q", a.Text, c.text)
			}
			if diff := cmp.Diff(c.want, s.stored(t)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestWhatIsSentWasSaved reads the disk when requests arrive.
func TestWhatIsSentWasSaved(t *testing.T) {
	s := newStage(t, t.TempDir())
	p := &player{acts: []act{calls("a"), say(llm.StopEnd, "done")}}
	var seen []string
	p.before = func() { seen = append(seen, s.stored(t)) }
	if _, err := s.turn(p, waiter{[]string{"a"}}).Run(t.Context(), ask("q")); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"turn\nask q\n", "turn\nask q\nsay hm\ncall a\nresult a result of a\n",
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestInterrupt ends a query in the middle of a sentence and asks again.
func TestInterrupt(t *testing.T) {
	s := newStage(t, t.TempDir())
	ctx, cancel := context.WithCancelCause(t.Context())
	pressed := errors.New("pressed")
	p := &player{acts: []act{
		func(a *llm.Assembler) error {
			a.Start(0, llm.PartReasoning, "", "")
			a.Append(0, "hm")
			a.Start(1, llm.PartText, "", "")
			a.Append(1, "Half a sen")
			cancel(pressed)
			return context.Canceled
		},
		say(llm.StopEnd, "whole"),
	}}
	turn := s.turn(p, nil)
	if _, err := turn.Run(ctx, ask("q")); !errors.Is(err, pressed) {
		t.Errorf("got %v", err)
	}
	if got, want := s.stored(t), "turn\nask q\nsay Half a sen +interrupted\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := turn.Run(t.Context(), ask("again")); err != nil {
		t.Fatal(err)
	}
	want := "user: q\nassistant: Half a sen\nuser: again\n"
	if got := said(p.asked[1]); got != want {
		t.Errorf("got\n%s", got)
	}
}

// TestInterruptWhileToolsRun checks that results from before the interrupt are kept.
func TestInterruptWhileToolsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, t.TempDir())
		ctx, cancel := context.WithCancel(t.Context())
		x, err := tool.NewExecutor([]tool.Item{{
			Tool:   &slow{during: cancel},
			Policy: tool.Policy{Run: tool.Unattended},
		}}, tool.Options{Grace: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		p := &player{acts: []act{calls("quick", "slow"), say(llm.StopEnd, "done")}}
		if _, err := s.turn(p, x).Run(ctx, ask("q")); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		want := "turn\nask q\nsay hm\ncall quick\ncall slow\nresult quick here\n" +
			"result slow Tool call was interrupted.\n"
		if got := s.stored(t); got != want {
			t.Errorf("got\n%s", got)
		}
	})
}

// TestExplainSavesNothing compares the explained request with the one that is sent.
func TestExplainSavesNothing(t *testing.T) {
	s := newStage(t, t.TempDir())
	p := &player{acts: []act{say(llm.StopEnd, "one")}}
	turn := s.turn(p, waiter{})
	before := s.stored(t)
	r, _, err := turn.Explain(ask("q"))
	if err != nil {
		t.Fatal(err)
	}
	if after := s.stored(t); after != before || len(p.asked) > 0 {
		t.Errorf("it did something: %s", after)
	}
	if _, err := turn.Run(t.Context(), ask("q")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, p.asked[0], same()); diff != "" {
		t.Errorf("(-explained +sent)\n%s", diff)
	}
}

// TestAToolIsForcedOnce checks which tools a model may choose in each request of a turn: if a tool
// were forced again after its result, the turn would never end. Forbidden tools stay forbidden.
func TestAToolIsForcedOnce(t *testing.T) {
	for mode, after := range map[llm.ChoiceMode]llm.ChoiceMode{
		llm.ChoiceRequired: llm.ChoiceAuto, llm.ChoiceNone: llm.ChoiceNone,
	} {
		s := newStage(t, t.TempDir())
		p := &player{acts: []act{calls("a"), say(llm.StopEnd, "done")}}
		turn := s.turn(p, waiter{order: []string{"a"}})
		turn.Setup.Choice.Mode = mode
		if _, err := turn.Run(t.Context(), ask("q")); err != nil {
			t.Fatal(err)
		}
		if len(p.asked) != 2 || p.asked[0].Choice.Mode != mode || p.asked[1].Choice.Mode != after {
			t.Errorf("%v: %d requests, then %v", mode, len(p.asked), p.asked[len(p.asked)-1].Choice)
		}
	}
}

// TestEmptyEnd verifies that an answer that has nothing to read is an error, and an end that the
// provider explains is a notice.
func TestEmptyEnd(t *testing.T) {
	other := llm.Stop{Reason: llm.StopOther, Native: "LANGUAGE", Explanation: "not supported"}
	says := func(text string, s llm.Stop) act {
		return func(a *llm.Assembler) error {
			a.Say(llm.PartReasoning, "hm")
			if text != "" {
				a.Say(llm.PartText, text)
			}
			a.Stop(s)
			return nil
		}
	}
	for name, c := range map[string]struct {
		acts  []act
		err   string
		notes []string
	}{
		"nothing": {[]act{says("", llm.Stop{Reason: llm.StopEnd, Native: "stop"})}, "test/player ended without an answer", nil},
		"a reason": {
			[]act{says("", other)}, "test/player ended without an answer (LANGUAGE): not supported", nil,
		},
		"a part":  {[]act{says("Hi", other)}, "", []string{"the answer ended early (LANGUAGE): not supported"}},
		"no name": {[]act{says("Hi", llm.Stop{Reason: llm.StopOther})}, "", []string{"the answer ended early"}},
		"nothing after calls": {
			[]act{func(a *llm.Assembler) error {
				a.Say(llm.PartText, "I look.")
				a.EndSaid()
				return calls("a")(a)
			}, says("", llm.Stop{Reason: llm.StopEnd})}, "", nil,
		},
		"extra": {
			[]act{func(a *llm.Assembler) error {
				a.Extra([]byte(`{"type":"picture"}`))
				a.Stop(llm.Stop{Reason: llm.StopEnd})
				return nil
			}}, "", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			turn := newStage(t, t.TempDir()).turn(&player{acts: c.acts}, waiter{[]string{"a"}})
			watch := &trimmed{}
			turn.Watch = watch
			_, err := turn.Run(t.Context(), ask("q"))
			said := ""
			if err != nil {
				said = err.Error()
			}
			if said != c.err || !slices.Equal(watch.notes, c.notes) {
				t.Errorf("error %q, notes %q", said, watch.notes)
			}
		})
	}
}
