package events

import (
	"slices"
	"time"

	"github.com/git-jp/git-jp/internal/lists"
)

// A placed is a compaction with the time and index of its element, which decide between overlapping
// ones.
type placed struct {
	*Compaction
	at      time.Time
	element int
}

// compactions returns the compactions in the order of their elements.
func (s *Stream) compactions() []placed {
	var found []placed
	for i, e := range s.All() {
		if c, ok := e.Event().(*Compaction); ok {
			found = append(found, placed{c, e.Time(), i})
		}
	}
	return found
}

// A turnPolicy is the result of all compactions for one turn.
type turnPolicy struct {
	summary   *placed // nil if no summary applies
	reasoning bool
	tools     ToolCallPolicy
}

// resolvePolicies decides for each of n turns which compaction applies, separately for the three
// policies.
func resolvePolicies(compactions []placed, n int) []turnPolicy {
	won := make([]turnPolicy, n)
	// From the strongest to the weakest. Reversing first makes the stable sort keep the later
	// element first if times are equal.
	ordered := slices.Clone(compactions)
	slices.Reverse(ordered)
	slices.SortStableFunc(ordered, func(a, b placed) int { return b.at.Compare(a.at) })
	summaries, reasoning, tools := newPainter(n), newPainter(n), newPainter(n)
	for i := range ordered {
		c := &ordered[i]
		if c.Summary != nil {
			summaries.paint(c.FromTurn, c.ToTurn, func(t int) { won[t].summary = c })
		}
		if c.StripReasoning {
			reasoning.paint(c.FromTurn, c.ToTurn, func(t int) { won[t].reasoning = true })
		}
		if c.ToolCalls != nil {
			tools.paint(c.FromTurn, c.ToTurn, func(t int) { won[t].tools = *c.ToolCalls })
		}
	}
	return won
}

// A painter visits each of n places at most once, however ranges overlap. Each place points to the
// next one that may still be unvisited (a disjoint-set forest), so any number of ranges takes
// almost linear time.
type painter []int

func newPainter(n int) painter { return lists.Numbers(n + 1) }

// paint calls f for the places from..to that were not visited yet.
func (p painter) paint(from, to int, f func(place int)) {
	last := len(p) - 2
	if from < 0 || from > last {
		return
	}
	for i := p.free(from); i <= min(to, last); i = p.free(i) {
		f(i)
		p[i] = i + 1
	}
}

// free returns the first unvisited place at or after i, and shortens the path for the next call.
func (p painter) free(i int) int {
	for p[i] != i {
		p[i] = p[p[i]]
		i = p[i]
	}
	return i
}
