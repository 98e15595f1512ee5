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
	s := &session{Turn: t, watch: silent{}, prior: t.Record.Stream()}
	stream := s.prior.Clone()
	stream.Append(s.elements(p)...)
	view, plan, err := s.plan(stream)
	if err != nil {
		return Trimming{}, false, err
	}
	plan.Store(view, stream)
	w, err := s.weigh(stream, View(stream), s.cold())
	if err != nil {
		return Trimming{}, false, err
	}
	sent, _ := compact.LastSent(s.prior)
	return Trimming{
		Decision: s.Trim.Schedule.Decision(w.pending, s.Trim.Market), Results: len(w.obsolete),
		Asked: sent.At, Gone: s.Trim.Market.Gone,
	}, true, nil
}
