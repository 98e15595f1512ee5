package query_test

import (
	"errors"
	"testing"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/go-json-experiment/json/jsontext"
)

// TestInquiriesHaveTheLimit verifies that a question of a tool is not sent if it could cost too
// much, and that it counts only if the model of the turn answers it, whose price is known.
func TestInquiriesHaveTheLimit(t *testing.T) {
	dear := func(a *llm.Assembler) error {
		a.Spent(llm.Usage{Input: 1_000_000})
		a.Settle()
		return calls("a")(a)
	}
	answer, done := say(llm.StopEnd, `{"answer":true}`), say(llm.StopEnd, "done")
	for name, c := range map[string]struct {
		most         float64
		other        bool
		asked, input int
	}{
		"enough":        {2_000_000, false, 3, 1_000_020},
		"too little":    {1_000_500, false, 1, 1_000_000},
		"another model": {2_000_000, true, 2, 1_000_010},
	} {
		x, err := tool.NewExecutor([]tool.Item{{
			Tool: asking{tool.Question{
				ID: "sure", Text: "Really?", Type: tool.AnswerBoolean, Target: jsontext.Value(`"assistant"`),
			}},
			Policy: tool.Policy{Run: tool.Unattended},
		}}, tool.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, other := &player{acts: []act{dear, answer, done}}, &player{acts: []act{answer}}
		if c.other {
			p.acts = []act{dear, done}
		}
		turn := newStage(t, t.TempDir()).turn(p, x)
		turn.Assistant = func(jsontext.Value) (llm.Model, error) {
			if c.other {
				return other, nil
			}
			return nil, nil
		}
		turn.Budget = &query.Budget{Most: c.most, Cost: func(u llm.Usage) float64 { return float64(u.Input) }}
		a, err := turn.Run(t.Context(), ask("q"))
		_, refused := errors.AsType[*query.BudgetError](err)
		if refused != (c.asked == 1) || !refused && err != nil {
			t.Errorf("%s: error %v", name, err)
		}
		if len(p.asked) != c.asked || a.Usage.Input != int64(c.input) || a.Cost != float64(c.input) {
			t.Errorf("%s: %d requests, usage %+v, cost %v", name, len(p.asked), a.Usage, a.Cost)
		}
		if c.other && (len(other.asked) != 1 || other.asked[0].Afford != nil) {
			t.Errorf("%s: asked %+v", name, other.asked)
		}
	}
}
