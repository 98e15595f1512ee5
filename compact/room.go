package compact

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/git-jp/git-jp/events"
)

// Spare returns the results in the last turn of a stream that the model can do without, oldest
// first: not those of the last calls, not those that show a file which the turn changes, nothing
// that a person said or pinned, and nothing that is hardly longer than its replacement.
func (h History) Spare(s *events.Stream, last int, o ObsoleteOptions) (results []int) {
	persons, held := listen(s, o.Contents), pinnedPlaces(s)
	start, changed := h.Work.turn(s.Len(), 0), map[int]bool{}
	for key, writes := range h.Work.writes {
		if slices.ContainsFunc(writes, func(i int) bool { return i >= start }) {
			for _, i := range h.Work.at[key] {
				changed[i] = true
			}
		}
	}
	calls := s.Calls()
	for _, c := range calls[:max(len(calls)-last, 0)] {
		in := invocation(s, c)
		if c.Request < start || c.Open() || changed[c.Request] || held[c.Response] ||
			in.Result == nil || !in.Shown() || persons.holds(in.Result) ||
			h.Sizes[c.Response] <= 2*SortOutput.Tokens(minStub) {
			continue
		}
		results = append(results, c.Response)
	}
	return results
}

// An Item is a part of a prompt, for display.
type Item struct {
	What   string
	Tokens float64
}

// Largest returns the n largest elements of a stream, largest first.
func (h History) Largest(s *events.Stream, n int) (all []Item) {
	names := map[int]string{}
	for _, c := range s.Calls() {
		names[c.Response] = fmt.Sprintf("the result of %s (%s)", c.Name, c.ID)
		names[c.Request] = fmt.Sprintf("the call of %s (%s)", c.Name, c.ID)
	}
	turns := askedIn(s)
	for i, e := range s.All() {
		what := names[i]
		if r, ok := e.Event().(*events.ChatRequest); ok {
			what = fmt.Sprintf("the question of turn %d", turns[i])
			if len(r.Resources) > 0 {
				what += " with what is attached"
			}
		} else if what == "" {
			what = fmt.Sprintf("an answer in turn %d", turns[i])
		}
		if h.Sizes[i] > 0 {
			all = append(all, Item{what, h.Sizes[i]})
		}
	}
	slices.SortStableFunc(all, func(a, b Item) int { return cmp.Compare(b.Tokens, a.Tokens) })
	return all[:min(n, len(all))]
}
