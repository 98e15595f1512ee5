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

// Sizes by which a request is estimated. They are pessimistic: a request is rather not sent than
// paid for beyond the limit.
const (
	leastBytesPerToken = 2
	tokensPerImage     = 3000
	bytesPerMediaToken = 8 // of documents and sound
)

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
	r.Metered = true
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

// promptTokens returns an estimated upper bound of the tokens in a request.
func promptTokens(r *llm.Request) int64 {
	bytes, media := int64(len(r.Schema)), int64(0)
	for _, s := range r.System {
		bytes += int64(len(s.Text))
	}
	for _, t := range r.Tools {
		bytes += int64(len(t.Name) + len(t.Description) + len(t.Schema))
	}
	var add func(p llm.Part)
	add = func(p llm.Part) {
		switch p := p.(type) {
		case llm.Text:
			bytes += int64(len(p.Text))
		case llm.Reasoning:
			bytes += int64(len(p.Text))
		case llm.Data:
			bytes += int64(len(p.Value))
		case llm.Opaque:
			bytes += int64(len(p.JSON))
		case llm.Call:
			bytes += int64(len(p.ID) + len(p.Name) + len(p.Args))
		case llm.Result:
			bytes += int64(len(p.CallID))
			for _, q := range p.Parts {
				add(q)
			}
		case llm.Resource:
			bytes += int64(len(p.URI) + len(p.Text))
			media += mediaTokens(p.MIME, p.Bytes)
		case llm.Media:
			media += mediaTokens(p.MIME, p.Bytes)
		}
	}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			add(p)
		}
	}
	return bytes/leastBytesPerToken + media
}

func mediaTokens(mime string, data []byte) int64 {
	if llm.IsImage(mime) {
		return tokensPerImage
	}
	return int64(len(data) / bytesPerMediaToken)
}
