package query

import (
	"time"

	"github.com/git-jp/git-jp/compact"
)

// A Trimming is the decision of a schedule about the first request of a turn.
type Trimming struct {
	compact.Decision
	Results int       // how many could be trimmed
	Asked   time.Time // when the provider was asked last; zero if not recorded
	Gone    time.Duration
}

// Trimming returns the decision of the schedule about the request that Run would send first, and
// false if t trims nothing. It saves nothing.
func (t *Turn) Trimming(p Prompt) (Trimming, bool, error) {
	if t.Trim == nil {
		return Trimming{}, false, nil
	}
	next := planner{Turn: t, prior: t.Record.Stream()}
	stream := next.prior.Clone()
	stream.Append(t.elements(p)...)
	view, plan, err := next.plan(stream)
	if err != nil {
		return Trimming{}, false, err
	}
	plan.Store(view, stream)
	w, err := next.weigh(stream, View(stream), next.cold())
	if err != nil {
		return Trimming{}, false, err
	}
	sent, _ := compact.LastSent(next.prior)
	return Trimming{
		Decision: t.Trim.Schedule.Decision(w.pending, t.Trim.Market), Results: len(w.obsolete),
		Asked: sent.At, Gone: t.Trim.Market.Gone,
	}, true, nil
}
