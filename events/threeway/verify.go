package threeway

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

// errUnverified wraps a fault that a merge found in its own result. It is always a bug of the
// merge, and reporting a conflict to git is better than losing data.
var errUnverified = errors.New("internal error: the merged file failed verification")

// verify checks a result by counting, which is independent of how the result was computed: the
// result can be read back, it lacks nothing that no side removed, it has only elements that a side
// wrote, byte for byte, and calls have their responses. For a virtual base only the first is
// checked.
func (m *merger) verify(r Result) error {
	again, err := events.DecodeWith(r.Stream.Encode(), events.DecodeOptions{MaxBlobBytes: -1})
	if err != nil || m.virtual {
		return err
	}
	a := &account{newEquality(), map[string]*tally{}}
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
		if err := a.callsAnswered(m, side, there); err != nil {
			return fmt.Errorf("%w: %w", errUnverified, err)
		}
	}
	return nil
}

const inResult = versions

// A tally counts the occurrences of an element in the versions and in the result.
type tally struct {
	n  [versions + 1]int
	el *events.Element
}

// least returns how many occurrences the result must have at least: those of base that no side
// removed, and those that were added, once if both sides added the same.
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
	equality

	bytes map[string]*tally // by their bytes
}

// add counts the elements of a stream. It leaves out compactions, whose ranges change,
// configuration, which is derived, and the elements that the merge writes itself. A turn_start that
// a repair inserted before a request is not counted either.
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
			k = e.Sum().String() // adding and removing a note changes its layout
		}
		t := a.bytes[k]
		if t == nil {
			t = &tally{el: e}
			a.bytes[k] = t
		}
		t.n[version]++
	}
}

// isRepairAt reports whether turn_start i has the time of the request that follows it.
func isRepairAt(s *events.Stream, i int) bool {
	for j := i + 1; j < s.Len(); j++ {
		if next := s.At(j); next.Kind().IsEvent() {
			return next.Kind() == events.KindChatRequest && next.Time().Equal(s.At(i).Time())
		}
	}
	return false
}

// counted returns the element as a side wrote it, or nil if it does not count.
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

func (a *account) nothingInvented() error {
	for _, t := range a.bytes {
		if t.n[inResult] > t.n[inBase]+t.n[inOurs]+t.n[inTheirs] {
			return fmt.Errorf("%s occurs more often than in the sides", described(t.el))
		}
	}
	return nil
}

// nothingLost checks that nothing is lost. It looks only at elements whose bytes do not occur
// equally often everywhere, which are few, and counts those by content.
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
		// One of several equal elements with the same time is enough: counting cannot find out
		// where each was moved to.
		if t.n[inResult] == 0 && kept[h] == 0 && t.least() > 0 {
			return fmt.Errorf("%s is lost", described(t.el))
		}
	}
	return nil
}

// callsAnswered reports a call of a side that lost its response: both are still there, in the
// result or in a conflict, but no longer paired, and the other side did not separate them. Without
// a turn_start the two can be in different turns, which nothing keeps together.
func (a *account) callsAnswered(m *merger, side int, there []*events.Stream) error {
	exact := map[[2]string]bool{}
	for _, s := range there {
		for p, q := range answered(s) {
			exact[[2]string{string(p.Raw()), string(q.Raw())}] = true
		}
	}
	// The comparison by hashes is computed once, and usually not needed.
	once := func(s ...*events.Stream) func() (map[[2]blobs.Hash]bool, map[blobs.Hash]bool) {
		return sync.OnceValues(func() (map[[2]blobs.Hash]bool, map[blobs.Hash]bool) {
			return a.calls(s)
		})
	}
	is, was := once(there...), once(m.sides[inBase].Stream)
	other := once(m.sides[inOurs+inTheirs-side].Stream)
	for p, q := range answered(m.sides[side].Stream) {
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
		parted := before[[2]blobs.Hash{x, y}] && !besides[[2]blobs.Hash{x, y}]
		if !parted && m.streams[side].inOneTurn(p, q) {
			return fmt.Errorf("%s has lost its result", described(p))
		}
	}
	return nil
}

// inOneTurn reports whether a turn has both events.
func (s *sideStream) inOneTurn(p, q *events.Element) bool {
	return slices.ContainsFunc(s.turns, func(t *sideTurn) bool {
		return slices.Contains(t.events, p) && slices.Contains(t.events, q)
	})
}

// calls returns the hashes of the answered calls of streams, and of all elements of the first.
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

// answered yields the tool call requests that have a response, with the response.
func answered(s *events.Stream) iter.Seq2[*events.Element, *events.Element] {
	return func(yield func(*events.Element, *events.Element) bool) {
		for _, c := range s.Calls() {
			if !c.Open() && !yield(s.At(c.Request), s.At(c.Response)) {
				return
			}
		}
	}
}

// described describes an element in a message without quoting it.
func described(e *events.Element) string {
	return fmt.Sprintf("the %s of %s", e.Kind().Printable(), events.AppendTime(nil, e.Time()))
}
