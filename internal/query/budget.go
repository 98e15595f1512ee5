package query

import (
	"fmt"

	"github.com/git-jp/git-jp/internal/llm"
)

// A Budget holds the price of requests and the limit for those of one turn.
type Budget struct {
	Most float64 // in USD; 0 for no limit
	// Cost returns the price of a request with the usage u.
	Cost func(u llm.Usage) float64
	// Output is the maximum number of tokens in an answer of the model, 0 if unknown.
	Output int
}

// A BudgetError says that the next request could cost more than is left. It was not sent.
type BudgetError struct {
	Most, Spent, Next float64 // in USD
}

// Error implements error.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("the next request could cost $%.4f, but only $%.4f of $%.4f is left; "+
		"it was not sent", e.Next, max(e.Most-e.Spent, 0), e.Most)
}

// leastAnswer is the fewest tokens of an answer that are worth a request.
const leastAnswer = 256

// affords checks the first request of a turn against the budget, before the question is saved.
func (s *session) affords(p Prompt) error {
	if s.Budget == nil || s.Budget.Most == 0 {
		return nil
	}
	view, plan, err := s.foresee(p)
	if err != nil {
		return err
	}
	r, err := s.build(view, plan)
	if err != nil {
		return err
	}
	return s.afford(r)
}

// afford limits the answer of a request to the money that is left, or refuses a request that leaves
// too little for an answer.
func (s *session) afford(r *llm.Request) error {
	b := s.Budget
	if b == nil || b.Most == 0 {
		return nil
	}
	r.Afford = s.afford
	prompt := promptTokens(r)
	asked := llm.Usage{Input: prompt}
	in := max(b.Cost(asked), b.Cost(llm.Usage{CacheWrite: prompt}))
	const many = 1_000_000
	each := (b.Cost(llm.Usage{Input: prompt, Output: many}) - b.Cost(asked)) / many
	left := b.Most - s.answer.Cost - in
	least := leastAnswer
	if n := r.Params.MaxTokens; n > 0 {
		least = min(least, n)
	}
	if left < each*float64(least) {
		return &BudgetError{b.Most, s.answer.Cost, in + each*float64(least)}
	}
	if each == 0 {
		return nil
	}
	room := left / each
	if limit := r.Params.MaxTokens; limit > 0 && float64(limit) <= room ||
		limit == 0 && b.Output > 0 && float64(b.Output) <= room {
		return nil
	}
	r.Params.MaxTokens = int(min(room, 1<<30))
	return nil
}
