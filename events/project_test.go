package events

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestProject(t *testing.T) {
	const four = "T q r m T q +a -a m T q +b:grep !b m T q r m "
	for _, test := range []struct{ name, sketch, want, origins string }{
		{
			"without compactions", "D T q r m U", "D T q r m U", "[{0 0 false}]",
		},
		{
			"policies are apart", four + "C0-3r C1-2t C2-2o",
			"T q m T q +a({}) -a([compacted] read: success) m T q m T q m",
			"[{0 0 false} {1 1 false} {2 2 false} {3 3 false}]",
		},
		{
			"arguments alone", four + "C0-9a",
			"T q r m T q +a({}) -a m T q +b:grep({}) !b m T q r m",
			"[{0 0 false} {1 1 false} {2 2 false} {3 3 false}]",
		},
		{
			"a later summary inside splits", four + "C0-3s:old C1-1s:new",
			"T q([Summary of previous conversation]) m(old)" +
				" T q([Summary of previous conversation]) m(new)" +
				" T q([Summary of previous conversation]) m(old)",
			"[{0 0 true} {1 1 true} {2 3 true}]",
		},
		{
			"an earlier summary inside is gone", "C1-1s:old " + four + "C0-2s:new",
			"T q([Summary of previous conversation]) m(new) T q r m",
			"[{0 2 true} {3 3 false}]",
		},
		{
			"summary beats the rest", "T q r +a -a m C0-0ros:x",
			"T q([Summary of previous conversation]) m(x)", "[{0 0 true}]",
		},
		{
			"what is no event passes", "D T q U D m C0-0s:x U",
			"D T q([Summary of previous conversation]) m(x) U D U", "[{0 0 true}]",
		},
		{
			"no turns", "D C0-0s:x U", "D U", "[]",
		},
		{
			"nothing covered", "T q r C3-9r C1-0s:x", "T q r", "[{0 0 false}]",
		},
		{
			"a turn of which nothing is left", "r T q r m C0-1r", "T q m", "[{1 1 false}]",
		},
		{
			"each response names its own tool", "T q +a -a +a:grep !a T q -c C0-1t",
			"T q +a({}) -a([compacted] read: success) +a:grep({}) !a([compacted] grep: error)" +
				" T q -c([compacted] unknown: success)",
			"[{0 0 false} {1 1 false}]",
		},
		{
			"a stray response names the last", "T q +a +a:grep -a -a T q -a C1-1t",
			"T q +a +a:grep -a -a T q -a([compacted] grep: success)",
			"[{0 0 false} {1 1 false}]",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := sketched(t, test.sketch).Project()
			if got := sketch(p.Stream); got != test.want {
				t.Errorf("Project(%s)\n got %s\nwant %s", test.sketch, got, test.want)
			}
			if got := fmt.Sprint(p.Origins); got != test.origins {
				t.Errorf("origins are %s, want %s", got, test.origins)
			}
		})
	}
}

func TestProjectProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := stream().Draw(t, "stream")
		before := s.Encode()
		p := s.Project()
		if !bytes.Equal(s.Encode(), before) {
			t.Fatal("the source was changed")
		}
		if want := slowProject(s); sketch(p.Stream) != want {
			t.Errorf("Project(%s)\n got %s\nwant %s", sketch(s), sketch(p.Stream), want)
		}
		if len(s.compactions()) == 0 && !bytes.Equal(p.Stream.Encode(), before) {
			t.Error("bytes differ although nothing was compacted")
		}
		if again := p.Stream.Project(); !bytes.Equal(again.Stream.Encode(), p.Stream.Encode()) {
			t.Error("a projection has something to project")
		}
		checkOrigins(t, s, p)
	})
}

// checkOrigins checks the origins of a projection: one for each turn, in order, without repetition,
// and kept turns have only events of the turn that their origin names.
func checkOrigins(t *rapid.T, s *Stream, p Projection) {
	turns := p.Stream.Turns()
	if len(p.Origins) != len(turns) {
		t.Fatalf("%d origins for %d turns", len(p.Origins), len(turns))
	}
	times := make([][]string, len(s.Turns()))
	for i, turn := range s.events() {
		times[turn] = append(times[turn], s.At(i).Time().String())
	}
	next := 0
	for n, o := range p.Origins {
		if o.From < next || o.To < o.From || o.To >= len(times) || !o.Summary && o.From != o.To {
			t.Fatalf("origin %d is %+v after turn %d", n, o, next-1)
		}
		next = o.To + 1
		for i := turns[n].First; i <= turns[n].Last; i++ {
			e := p.Stream.At(i)
			if e.Kind().IsEvent() && !slices.Contains(times[o.From], e.Time().String()) {
				t.Errorf("%s in projected turn %d is not of turn %d", sketchOf(e), n, o.From)
			}
		}
	}
}

// slowProject projects by checking every compaction for every turn.
func slowProject(s *Stream) string {
	winner := func(turn int, sets func(c *Compaction) bool) *placed {
		var won *placed
		for _, c := range s.compactions() {
			if c.FromTurn <= turn && turn <= c.ToTurn && sets(c.Compaction) &&
				(won == nil || !c.at.Before(won.at)) {
				won = &c
			}
		}
		return won
	}
	summary := func(turn int) string {
		c := winner(turn, func(c *Compaction) bool { return c.Summary != nil })
		if c == nil {
			return ""
		}
		return fmt.Sprint(c.FromTurn, c.ToTurn, c.at, "\t", *c.Summary)
	}
	tools := func(turn int) ToolCallPolicy {
		if c := winner(turn, func(c *Compaction) bool { return c.ToolCalls != nil }); c != nil {
			return *c.ToolCalls
		}
		return ToolCallPolicy{}
	}
	names := newToolNames(s)
	var words []string
	of, done := s.TurnOf(), map[int]bool{}
	for i, e := range s.All() {
		if e.Kind() == KindCompaction {
			continue
		}
		turn := of[i]
		w := sketchOf(e)
		if e.Kind().IsEvent() && summary(turn) != "" {
			if !done[turn] && (turn == 0 || summary(turn) != summary(turn-1)) {
				_, text, _ := strings.Cut(summary(turn), "\t")
				words = append(words, "T", "q("+SummaryRequest+")",
					"m("+strings.TrimSpace(text)+")")
			}
			done[turn] = true
			continue
		}
		switch ev := e.Event().(type) {
		case *ChatResponse:
			strip := winner(turn, func(c *Compaction) bool { return c.StripReasoning })
			if strip != nil && ev.Form == FormReasoning {
				continue
			}
		case *ToolCallRequest:
			if tools(turn).Omit {
				continue
			}
			if tools(turn).Request {
				w += "({})"
			}
		case *ToolCallResponse:
			if tools(turn).Omit {
				continue
			}
			if tools(turn).Response {
				w = slowStatus(ev, names, i)
			}
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

func slowStatus(ev *ToolCallResponse, names *toolNames, i int) string {
	name, ok := names.byResponse[i]
	if !ok {
		if name, ok = names.byID[ev.ID]; !ok {
			name = "unknown"
		}
	}
	if ev.IsError {
		return "!" + ev.ID + "([compacted] " + name + ": error)"
	}
	return "-" + ev.ID + "([compacted] " + name + ": success)"
}
