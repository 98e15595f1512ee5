package threeway

import (
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

// errUnverified wraps what a merge found wrong with its own result. It is always a
// fault of the merge, and then a conflict for git is better than a loss.
var errUnverified = errors.New("the merge does not stand its own check")

// verify checks a result by counting, and so by other means than those by which it came
// about: that it reads back, that nothing is missing that no side removed, that
// nothing is in it but what a side wrote, to the byte, and that calls have their
// results. Of a virtual base only the first is asked.
func (m *merger) verify(r Result) error {
	again, err := events.DecodeWith(r.Stream.Encode(), events.DecodeOptions{MaxBlobBytes: -1})
	if err != nil || m.virtual {
		return err
	}
	a := &account{bytes: map[string]*tally{}, sums: map[string]blobs.Hash{}}
	for v := range m.sides {
		a.add(m.sides[v].Stream, v)
	}
	a.add(again, inResult)
	if err := a.nothingInvented(); err != nil {
		return fmt.Errorf("%w: %w", errUnverified, err)
	}
	if err := a.nothingLost(r.Conflicts); err != nil {
		return fmt.Errorf("%w: %w", errUnverified, err)
	}
	there := []*events.Stream{again}
	for _, c := range r.Conflicts {
		there = append(there, events.New(c.Theirs...))
	}
	for _, side := range []int{inOurs, inTheirs} {
		if err := a.callsAnswered(m.sides, side, there); err != nil {
			return fmt.Errorf("%w: %w", errUnverified, err)
		}
	}
	return nil
}

const inResult = versions

// A tally is how often something occurs in the versions and in the result.
type tally struct {
	n  [versions + 1]int
	el *events.Element
}

// least returns how many there must be: all that was there and that no side took away,
// and what came, once when both sides brought it.
func (t *tally) least() int {
	base, ours, theirs := t.n[inBase], t.n[inOurs], t.n[inTheirs]
	if ours >= base && theirs >= base {
		return max(ours, theirs)
	}
	return max(0, ours+theirs-base)
}

func (t *tally) even() bool {
	n := t.n[inBase]
	return t.n == [versions + 1]int{n, n, n, n}
}

// An account counts elements.
type account struct {
	bytes map[string]*tally // by their bytes
	sums  map[string]blobs.Hash
}

// add counts what a stream says. Ranges of compactions change, a configuration is
// derived, and what a merge writes itself is nobody's. A turn_start that repairing put
// before a request goes with that.
func (a *account) add(s *events.Stream, version int) {
	for i, e := range s.All() {
		if e.Kind() == events.KindTurnStart && isRepairAt(s, i) {
			continue
		}
		if e = counted(e); e == nil {
			continue
		}
		k := string(e.Raw())
		if e.Kind() == events.KindTurnStart {
			k = e.Sum().String() // writing a note into it and taking it out lays it out anew
		}
		t := a.bytes[k]
		if t == nil {
			t = &tally{el: e}
			a.bytes[k] = t
		}
		t.n[version]++
	}
}

// isRepairAt reports whether a turn_start has the time of the request that follows it.
func isRepairAt(s *events.Stream, i int) bool {
	for j := i + 1; j < s.Len(); j++ {
		if next := s.At(j); next.Kind().IsEvent() {
			return next.Kind() == events.KindChatRequest && next.Time().Equal(s.At(i).Time())
		}
	}
	return false
}

// counted returns the element as a side wrote it, nil when it does not count.
func counted(e *events.Element) *events.Element {
	switch e.Kind() {
	case events.KindCompaction, events.KindConfigDelta:
		return nil
	case events.KindTurnStart:
		own, _ := withoutNotes(e)
		return own
	}
	return e
}

func (a *account) sum(e *events.Element) blobs.Hash {
	h, ok := a.sums[string(e.Raw())]
	if !ok {
		h = e.Sum()
		a.sums[string(e.Raw())] = h
	}
	return h
}

func (a *account) nothingInvented() error {
	for _, t := range a.bytes {
		if t.n[inResult] > t.n[inBase]+t.n[inOurs]+t.n[inTheirs] {
			return fmt.Errorf("%s is there more often than the sides have it", described(t.el))
		}
	}
	return nil
}

// nothingLost looks only at what did not stay the same to the byte everywhere, which is
// little, and counts that by what it says.
func (a *account) nothingLost(conflicts []Conflict) error {
	bySum := map[blobs.Hash]*tally{}
	for _, t := range a.bytes {
		if t.even() {
			continue
		}
		h := a.sum(t.el)
		if bySum[h] == nil {
			bySum[h] = &tally{el: t.el}
		}
		for v, n := range t.n {
			bySum[h].n[v] += n
		}
	}
	kept := map[blobs.Hash]int{}
	for _, c := range conflicts {
		for _, e := range c.Theirs {
			kept[a.sum(e)]++
		}
	}
	for h, t := range bySum {
		// Of several that say the same at the same time one is enough: where each was
		// moved to, counting cannot tell.
		if t.n[inResult] == 0 && kept[h] == 0 && t.least() > 0 {
			return fmt.Errorf("%s is lost", described(t.el))
		}
	}
	return nil
}

// callsAnswered reports a call of a side that lost its result although both are there,
// in the result or in what is left to a person, and although the other side did not take
// them apart.
func (a *account) callsAnswered(sides [versions]Side, side int, there []*events.Stream) error {
	exact := map[[2]string]bool{}
	for _, s := range there {
		for p, q := range answered(s) {
			exact[[2]string{string(p.Raw()), string(q.Raw())}] = true
		}
	}
	// What compares by sums is made once, and mostly never.
	once := func(s ...*events.Stream) func() (map[[2]blobs.Hash]bool, map[blobs.Hash]bool) {
		return sync.OnceValues(func() (map[[2]blobs.Hash]bool, map[blobs.Hash]bool) {
			return a.calls(s)
		})
	}
	is, was := once(there...), once(sides[inBase].Stream)
	other := once(sides[inOurs+inTheirs-side].Stream)
	for p, q := range answered(sides[side].Stream) {
		if exact[[2]string{string(p.Raw()), string(q.Raw())}] {
			continue
		}
		calls, in := is()
		x, y := a.sum(p), a.sum(q)
		if !in[x] || !in[y] || calls[[2]blobs.Hash{x, y}] {
			continue
		}
		before, _ := was()
		besides, _ := other()
		if !before[[2]blobs.Hash{x, y}] || besides[[2]blobs.Hash{x, y}] {
			return fmt.Errorf("%s has lost its result", described(p))
		}
	}
	return nil
}

// calls returns the sums of the calls of streams, and of all that is in the first.
func (a *account) calls(there []*events.Stream) (map[[2]blobs.Hash]bool, map[blobs.Hash]bool) {
	calls, in := map[[2]blobs.Hash]bool{}, map[blobs.Hash]bool{}
	for _, s := range there {
		for p, q := range answered(s) {
			calls[[2]blobs.Hash{a.sum(p), a.sum(q)}] = true
		}
	}
	for _, e := range there[0].All() {
		in[a.sum(e)] = true
	}
	return calls, in
}

// answered yields the requests for tools that have a response, and that.
func answered(s *events.Stream) iter.Seq2[*events.Element, *events.Element] {
	return func(yield func(*events.Element, *events.Element) bool) {
		for _, c := range s.Calls() {
			if !c.Open() && !yield(s.At(c.Request), s.At(c.Response)) {
				return
			}
		}
	}
}

// described names an element without quoting it.
func described(e *events.Element) string {
	return fmt.Sprintf("the %s of %s", e.Kind().Printable(), events.AppendTime(nil, e.Time()))
}
