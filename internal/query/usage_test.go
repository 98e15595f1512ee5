package query_test

import (
	"slices"
	"testing"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/git-jp/git-jp/internal/query"
)

// TestUsageIsKept verifies that what is stored adds up to the usage of all requests, also of those
// whose answers left no event, and that only events of an answer have the size of a prompt.
func TestUsageIsKept(t *testing.T) {
	spends := func(a *llm.Assembler) {
		a.Spent(llm.Usage{Input: 10, Output: 2, Model: "player"})
		a.Settle()
	}
	empty := say(llm.StopEnd)
	for name, c := range map[string]struct {
		acts []act
		own  int64 // the last event's prompt
		fail bool
	}{
		"continued": {[]act{
			say(llm.StopMaxTokens, "one two three "), say(llm.StopMaxTokens, "three four five "), say(llm.StopEnd, "five six"),
		}, 10, false},
		"refused":           {[]act{say(llm.StopRefusal, "I")}, 0, true},
		"refused in a part": {[]act{continuedAndRefused}, 10, true},
		"continued, then refused": {
			[]act{say(llm.StopMaxTokens, "one two three "), say(llm.StopRefusal, "three four")}, 10, true,
		},
		"continued with nothing": {[]act{say(llm.StopMaxTokens, "one two three "), empty}, 10, false},
		"empty":                  {[]act{empty}, 0, true},
		"empty after a call":     {[]act{calls("a"), empty}, 0, true},
		"failed at once": {[]act{func(a *llm.Assembler) error {
			a.Spent(llm.Usage{Input: 10, Output: 2, Model: "player"})
			return a.Broken(&llm.APIError{})
		}}, 0, true},
		"cut in thinking": {[]act{func(a *llm.Assembler) error {
			a.Say(llm.PartReasoning, "hm")
			spends(a)
			return &wire.CutError{}
		}}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, t.TempDir())
			turn := s.turn(nil, waiter{[]string{"a"}})
			var used llm.Usage
			for range 2 {
				turn.Model = &player{acts: c.acts}
				a, err := turn.Run(t.Context(), query.Prompt{Request: &events.ChatRequest{Content: "q"}})
				if (err != nil) != c.fail {
					t.Errorf("error %v", err)
				}
				used = used.Add(a.Usage)
			}
			var all, last compact.Usage
			for _, e := range turn.Record.Stream().All() {
				last, _ = compact.UsageOf(e)
				all = all.After(last)
			}
			if all = all.Total(); used.Input == 0 || all.Input != used.Input || all.Output != used.Output {
				t.Errorf("stored is %+v, want %+v", all, used)
			}
			if last.Prompt() != c.own {
				t.Errorf("the last event has a prompt of %d tokens", last.Prompt())
			}
		})
	}
}

// TestRequestsArePricedOneByOne verifies that requests of one answer stay apart: the price of each
// depends on its own prompt, and the first one's prompt is what the request measured.
func TestRequestsArePricedOneByOne(t *testing.T) {
	turn := newStage(t, t.TempDir()).turn(&player{acts: []act{func(a *llm.Assembler) error {
		a.Say(llm.PartText, "one ")
		a.Spent(llm.Usage{Input: 60, Output: 1})
		a.Settle()
		a.Say(llm.PartText, "two")
		a.Spent(llm.Usage{Input: 90, Output: 2})
		a.Settle()
		a.Stop(llm.Stop{Reason: llm.StopEnd})
		return nil
	}}}, nil)
	turn.Budget = &query.Budget{Cost: func(u llm.Usage) float64 {
		if u.Prompt() > 100 {
			return 1000
		}
		return float64(u.Prompt())
	}}
	a, err := turn.Run(t.Context(), query.Prompt{Request: &events.ChatRequest{Content: "q"}})
	if err != nil || a.Cost != 150 || a.Usage.Input != 150 {
		t.Errorf("cost %v, usage %+v, error %v", a.Cost, a.Usage, err)
	}
	s := turn.Record.Stream()
	u, _ := compact.UsageOf(s.At(s.Len() - 1))
	var prompts []int64
	for x := range u.Exchanges() {
		prompts = append(prompts, x.Prompt())
	}
	if !slices.Equal(prompts, []int64{60, 90}) {
		t.Errorf("stored are prompts of %d tokens", prompts)
	}
}
