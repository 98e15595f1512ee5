package query_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// wanting sends half a sentence and a call, and is interrupted.
func wanting(c *query.Control, w query.Wish, call bool) act {
	return func(a *llm.Assembler) error {
		if call {
			a.Start(0, llm.PartCall, "a", "wait")
			a.Append(0, `{}`)
			a.End(0)
		}
		a.Start(1, llm.PartText, "", "")
		a.Append(1, "Half a sen")
		c.Want(w)
		return context.Canceled
	}
}

func TestInterruptedAnswer(t *testing.T) {
	const half = "say Half a sen +interrupted\n"
	for name, c := range map[string]struct {
		wish  query.Wish
		call  bool
		want  string // stored after the question
		ended bool
	}{
		"stop":  {wish: query.Wish{Act: query.ActStop}, want: half, ended: true},
		"abort": {wish: query.Wish{Act: query.ActAbort}, ended: true},
		"abort with a call": {
			wish: query.Wish{Act: query.ActAbort}, call: true, ended: true,
		},
		"reply": {
			wish: query.Wish{Act: query.ActReply, Reply: "shorter"},
			want: half + "ask shorter\nsay whole +usage\n",
		},
		"reply to a call": {
			wish: query.Wish{Act: query.ActReply, Reply: "no"}, call: true,
			want: "call a\n" + half + "result a Tool call was interrupted.\n" +
				"ask no\nsay whole +usage\n",
		},
		"stop at a call": {
			wish: query.Wish{Act: query.ActStop}, call: true, ended: true,
			want: "call a\n" + half + "result a Tool call was interrupted.\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, control := newStage(t, t.TempDir()), new(query.Control)
				p := &player{acts: []act{wanting(control, c.wish, c.call), say(llm.StopEnd, "whole")}}
				turn := s.turn(p, nil)
				turn.Control = control
				a, err := turn.Run(t.Context(), ask("q"))
				if err != nil || a.Ended != c.ended {
					t.Errorf("ended %v, %v", a.Ended, err)
				}
				if diff := cmp.Diff("turn\nask q\n"+c.want, s.stored(t)); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		})
	}
}

// TestNothingAfterTheInterrupt checks that output of the model after an interrupt is not saved, but
// its usage is, also if the stream ends as if nothing had happened.
func TestNothingAfterTheInterrupt(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		s, control := newStage(t, t.TempDir()), new(query.Control)
		turn := s.turn(&player{deaf: deaf, acts: []act{func(a *llm.Assembler) error {
			a.Start(0, llm.PartText, "", "")
			a.Append(0, "Half")
			control.Want(query.Wish{Act: query.ActStop})
			a.Append(0, " and the rest")
			a.End(0)
			a.Spent(llm.Usage{Input: 10, Output: 2})
			a.Settle()
			a.Stop(llm.Stop{Reason: llm.StopEnd})
			return nil
		}}}, nil)
		turn.Control = control
		a, err := turn.Run(t.Context(), ask("q"))
		if err != nil || a.Usage.Input != 10 {
			t.Errorf("deaf %t: usage %+v, error %v", deaf, a.Usage, err)
		}
		if got, want := s.stored(t), "turn\nask q\nsay Half +interrupted +usage\n"; got != want {
			t.Errorf("deaf %t: got %q, want %q", deaf, got, want)
		}
	}
}

// A slow tool answers the call "quick" at once. Each other call runs during, and hangs the first
// time.
type slow struct {
	during func()
	runs   int
}

func (*slow) Definition() tool.Definition {
	return tool.Definition{Name: "wait", Schema: jsontext.Value(`{"type":"object"}`), Open: true}
}

func (s *slow) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	if c.ID == "quick" {
		return tool.OK("here"), nil
	}
	if s.runs++; s.runs > 1 {
		return tool.OK("again"), nil
	}
	time.Sleep(50 * time.Millisecond) // the other result has arrived by now, in a bubble
	s.during()
	<-ctx.Done()
	return tool.Result{}, ctx.Err()
}

func TestInterruptedTools(t *testing.T) {
	const quick = "result quick here\n"
	for name, c := range map[string]struct {
		wish  query.Wish
		want  string // stored after the calls
		ended bool
		runs  int
	}{
		"stop": {
			wish: query.Wish{Act: query.ActStop}, ended: true, runs: 1,
			want: quick + "result slow Tool call was interrupted.\n",
		},
		"cancel": {
			wish: query.Wish{Act: query.ActCancel}, runs: 1,
			want: quick + "result slow Tool call was interrupted.\nsay done +usage\n",
		},
		"reply": {
			wish: query.Wish{Act: query.ActReply, Reply: "use git"}, runs: 1,
			want: quick + "result slow Tool call was interrupted by the user, who says: use git\n" +
				"say done +usage\n",
		},
		"restart": {
			wish: query.Wish{Act: query.ActRestart}, runs: 2,
			want: quick + "result slow again\nsay done +usage\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, control := newStage(t, t.TempDir()), new(query.Control)
			phase := query.PhaseNone
			run := &slow{during: func() { phase = control.Phase(); control.Want(c.wish) }}
			x, err := tool.NewExecutor([]tool.Item{{
				Tool: run, Policy: tool.Policy{Run: tool.Unattended},
			}}, tool.Options{})
			if err != nil {
				t.Fatal(err)
			}
			turn := s.turn(&player{acts: []act{calls("quick", "slow"), say(llm.StopEnd, "done")}}, x)
			turn.Control = control
			a, err := turn.Run(t.Context(), ask("q"))
			if err != nil || a.Ended != c.ended || run.runs != c.runs || phase != query.PhaseTools {
				t.Errorf("ended %v after %d runs in phase %d: %v", a.Ended, run.runs, phase, err)
			}
			want := "turn\nask q\nsay hm\ncall quick\ncall slow\n" + c.want
			if diff := cmp.Diff(want, s.stored(t)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// An asking tool asks its question and returns the answer as its result.
type asking struct{ question tool.Question }

func (asking) Definition() tool.Definition {
	return tool.Definition{Name: "wait", Schema: jsontext.Value(`{"type":"object"}`), Open: true}
}

func (a asking) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	if c.Asker == nil {
		return tool.Result{}, errors.New("no asker")
	}
	q := a.question
	q.Tool, q.Call = c.Name, c.ID
	answer, err := c.Asker.Ask(ctx, q)
	if err != nil {
		return tool.Result{}, err
	}
	return tool.OK(string(answer)), nil
}

// A person answers every question with yes.
type person struct{ asked []string }

func (p *person) Ask(_ context.Context, q tool.Question) (jsontext.Value, error) {
	p.asked = append(p.asked, q.Text)
	return jsontext.Value("true"), nil
}

func TestQuestionsOfTools(t *testing.T) {
	const asked, paused = "inquiry_request\n", "inquiry_response\n"
	for name, c := range map[string]struct {
		target string
		person bool
		want   string // stored after the call
		asked  int    // questions to the person
		model  int    // requests
	}{
		"a person": {
			person: true, asked: 1, model: 2,
			want: asked + paused + "result a true\nsay done +usage\n",
		},
		"nobody": {
			target: `"user"`, model: 2,
			want: "result a no user could be asked\nsay done +usage\n",
		},
		"the model": {
			target: `"assistant"`, person: true, model: 3,
			want: asked + paused + "result a false\nsay done +usage\n",
		},
		"a model with settings": {
			target: `{"model":{"id":"x/y"}}`, model: 3,
			want: asked + paused + "result a false\nsay done +usage\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, t.TempDir())
			x, err := tool.NewExecutor([]tool.Item{{
				Tool: asking{tool.Question{
					ID: "sure", Text: "Really?", Type: tool.AnswerBoolean,
					Target: jsontext.Value(c.target),
				}},
				Policy: tool.Policy{Run: tool.Unattended},
			}}, tool.Options{})
			if err != nil {
				t.Fatal(err)
			}
			p := &player{acts: []act{calls("a"), say(llm.StopEnd, `{"answer":false}`), say(llm.StopEnd, "done")}}
			if c.model == 2 {
				p.acts = []act{p.acts[0], p.acts[2]}
			}
			turn, one := s.turn(p, x), new(person)
			if c.person {
				turn.Asker = one
			}
			turn.Assistant = func(target jsontext.Value) (llm.Model, error) {
				if string(target) != c.target {
					t.Errorf("the assistant is chosen by %s", target)
				}
				return nil, nil
			}
			if _, err := turn.Run(t.Context(), ask("q")); err != nil {
				t.Fatal(err)
			}
			want := "turn\nask q\nsay hm\ncall a\n" + c.want
			if diff := cmp.Diff(want, s.stored(t)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if len(one.asked) != c.asked || len(p.asked) != c.model {
				t.Errorf("%d questions to the person, %d to the model", len(one.asked), len(p.asked))
			}
			if c.model == 3 {
				checkInquiry(t, p.asked)
			}
		})
	}
}

// checkInquiry checks that the model is asked for data, with the call answered and with the tools
// of the turn, of which it may call none, and that the next request contains nothing of that.
func checkInquiry(t *testing.T, asked []*llm.Request) {
	t.Helper()
	r := asked[1]
	var schema struct{ Required []string }
	if json.Unmarshal(r.Schema, &schema) != nil || len(schema.Required) != 1 {
		t.Errorf("schema %s", r.Schema)
	}
	if r.Choice.Mode != llm.ChoiceNone || len(r.Tools) != len(asked[0].Tools) {
		t.Errorf("choice %v of %d tools", r.Choice, len(r.Tools))
	}
	if text := said(r); !strings.Contains(text, "Tool paused: Really?") {
		t.Errorf("it is asked\n%s", text)
	}
	if text := said(asked[2]); strings.Contains(text, "Really?") {
		t.Errorf("it is told\n%s", text)
	}
}

// TestInquiriesAreAsInJP compares the stored inquiries with those of jp.
func TestInquiriesAreAsInJP(t *testing.T) {
	s := newStage(t, t.TempDir())
	x, err := tool.NewExecutor([]tool.Item{{
		Tool: asking{tool.Question{
			ID: "which", Text: "Which?", Type: tool.AnswerSelect, Options: []string{"a", "b"},
			Default: jsontext.Value(`"a"`),
		}},
		Policy: tool.Policy{Run: tool.Unattended},
	}}, tool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	turn := s.turn(&player{acts: []act{calls("c"), say(llm.StopEnd, "done")}}, x)
	turn.Asker = new(person)
	if _, err := turn.Run(t.Context(), ask("q")); err != nil {
		t.Fatal(err)
	}
	c, err := s.workspace.Load(s.entry)
	if err != nil {
		t.Fatal(err)
	}
	list := c.Stream.Inquiries()
	if len(list) != 1 || list[0].Open() {
		t.Fatalf("inquiries %+v", list)
	}
	stored := string(c.Stream.Encode())
	for _, want := range []string{
		`"id": "c.which"`, `"name": "wait"`, `"source": "tool"`, `"text": "Which?"`,
		`"type": "select"`, `"value": "b"`, `"default": "a"`, `"answer": true`,
	} {
		if !strings.Contains(stored, want) {
			t.Errorf("no %s in\n%s", want, stored)
		}
	}
}

// A crowd answers questions of several calls at once.
type crowd struct{ mu sync.Mutex }

func (c *crowd) Ask(context.Context, tool.Question) (jsontext.Value, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return jsontext.Value("true"), nil
}

// TestQuestionsSideBySide checks that calls which ask at once lose no question, no answer and no
// result, and that results are in the order of the calls.
func TestQuestionsSideBySide(t *testing.T) {
	s := newStage(t, t.TempDir())
	x, err := tool.NewExecutor([]tool.Item{{
		Tool:   asking{tool.Question{ID: "sure", Text: "Really?", Type: tool.AnswerBoolean}},
		Policy: tool.Policy{Run: tool.Unattended},
	}}, tool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	turn := s.turn(&player{acts: []act{calls("a", "b", "c", "d"), say(llm.StopEnd, "done")}}, x)
	turn.Asker, turn.Now = new(crowd), time.Now
	if _, err := turn.Run(t.Context(), ask("q")); err != nil {
		t.Fatal(err)
	}
	c, err := s.workspace.Load(s.entry)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range c.Stream.Inquiries() {
		if q.Open() {
			t.Errorf("an open inquiry")
		}
	}
	if n := len(c.Stream.Inquiries()); n != 4 {
		t.Errorf("%d inquiries", n)
	}
	var results []string
	for line := range strings.Lines(s.stored(t)) {
		if strings.HasPrefix(line, "result") {
			results = append(results, strings.TrimSpace(line))
		}
	}
	want := []string{"result a true", "result b true", "result c true", "result d true"}
	if diff := cmp.Diff(want, results); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
