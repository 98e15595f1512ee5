package events

import "sort"

// A rebase adjusts the ranges of compactions, which are positions, when the turns that they cover
// move.
type rebase struct {
	turns int      // of the source
	lost  []int    // lost[t]: how many turns before t lost an event that was not selected
	spans []oldRun // for each turn of the result
}

// An oldRun is the run of source turns whose events a turn of the result has; -1 if it has none.
// Sanitizing can join and add turns.
type oldRun struct{ first, last int }

// newRebase compares the source with the result: keep reports which elements were selected, ps is
// the result after sanitizing.
func newRebase(s *Stream, keep []bool, ps []piece) *rebase {
	turnOf, turns := s.TurnOf(), len(s.Turns())
	r := &rebase{turns: turns, lost: make([]int, turns+1)}
	for i, e := range s.All() {
		if e.Kind().IsEvent() && !keep[i] {
			r.lost[turnOf[i]+1] = 1
		}
	}
	for t := range turns {
		r.lost[t+1] += r.lost[t]
	}
	turn := -1
	for _, p := range ps {
		if startsTurn(p.el, turn) {
			turn++
			r.spans = append(r.spans, oldRun{-1, -1})
		}
		if p.src >= 0 && p.el.Kind().IsEvent() {
			r.spans[turn].add(turnOf[p.src])
		}
	}
	return r
}

func (o *oldRun) add(turn int) {
	if o.first < 0 {
		o.first = turn
	}
	o.last = turn
}

// identity reports whether every turn kept its index. Turns may have lost events.
func (r *rebase) identity() bool {
	if len(r.spans) != r.turns {
		return false
	}
	for t, span := range r.spans {
		if span != (oldRun{t, t}) {
			return false
		}
	}
	return true
}

// apply returns ps with its compactions moved, shortened or removed.
func (r *rebase) apply(ps []piece) []piece {
	if r.identity() && r.lost[r.turns] == 0 {
		return ps
	}
	out := make([]piece, 0, len(ps))
	for _, p := range ps {
		if c, ok := p.el.Event().(*Compaction); ok {
			moved := r.compaction(*c)
			if moved == nil {
				continue
			}
			if *moved != *c {
				p.el = p.el.With(moved)
			}
		}
		out = append(out, p)
	}
	return out
}

// compaction returns c adjusted to the result, or nil if it covers nothing there.
func (r *rebase) compaction(c Compaction) *Compaction {
	from, to := c.FromTurn, min(c.ToTurn, r.turns-1)
	if from > to {
		return nil
	}
	if r.lost[to+1] > r.lost[from] {
		c.Summary = nil
	}
	// Select the turns of the result that have only events of turns from..to. Since order is kept,
	// they are adjacent.
	c.FromTurn = sort.Search(len(r.spans), func(n int) bool { return r.spans[n].first >= from })
	c.ToTurn = sort.Search(len(r.spans), func(n int) bool { return r.spans[n].last > to }) - 1
	if c.FromTurn > c.ToTurn || c.Summary == nil && !c.StripReasoning && c.ToolCalls == nil {
		return nil
	}
	return &c
}
