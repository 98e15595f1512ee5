package events

import (
	"errors"
	"fmt"

	"github.com/git-jp/git-jp/blobs"
)

// errUnverified wraps what a merge found wrong with its own result. It is always a
// fault of the merge, and then a conflict for git is better than a loss.
var errUnverified = errors.New("the merge does not stand its own check")

// verify checks a result by counting, and so by other means than those by which it came
// about: that it reads back, that nothing is missing that no side removed, that
// nothing is in it but what a side wrote, to the byte, and that calls have their
// results. Of a virtual base only the first is asked.
func (m *merger) verify(r Result) error {
	again, err := DecodeWith(r.Stream.Encode(), DecodeOptions{MaxBlobBytes: -1})
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
	for _, s := range []*Stream{m.sides[inOurs].Stream, m.sides[inTheirs].Stream} {
		if err := a.callsAnswered(s, again); err != nil {
			return fmt.Errorf("%w: %w", errUnverified, err)
		}
	}
	return nil
}

const inResult = versions

// A tally is how often something occurs in the versions and in the result.
type tally struct {
	n  [versions + 1]int
	el *Element
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
// derived, and what a merge writes itself is nobody's. A turn_start that repairing put before a request goes with that.
func (a *account) add(s *Stream, version int) {
	for i, e := range s.All() {
		repair := e.Kind() == KindTurnStart && i+1 < s.Len() && s.At(i+1).Time().Equal(e.Time())
		if e = counted(e); e == nil || repair {
			continue
		}
		t := a.bytes[string(e.raw)]
		if t == nil {
			t = &tally{el: e}
			a.bytes[string(e.raw)] = t
		}
		t.n[version]++
	}
}

// counted returns the element as a side wrote it, nil when it does not count.
func counted(e *Element) *Element {
	switch e.Kind() {
	case KindCompaction, KindConfigDelta:
		return nil
	case KindTurnStart:
		own, _ := withoutNotes(e)
		return own
	}
	return e
}

func (a *account) sum(e *Element) blobs.Hash {
	h, ok := a.sums[string(e.raw)]
	if !ok {
		h = e.Sum()
		a.sums[string(e.raw)] = h
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
		if t.n[inResult] < t.least() && t.n[inResult]+kept[h] < t.least() {
			return fmt.Errorf("%s is lost", described(t.el))
		}
	}
	return nil
}

// callsAnswered reports a call of a side that lost its result although both are there.
func (a *account) callsAnswered(side, result *Stream) error {
	pairs, there := map[[2]blobs.Hash]bool{}, map[blobs.Hash]bool{}
	exact := map[[2]string]bool{}
	for _, c := range result.Calls() {
		if !c.Open() {
			exact[[2]string{
				string(result.At(c.Request).raw), string(result.At(c.Response).raw),
			}] = true
		}
	}
	for _, c := range side.Calls() {
		if c.Open() {
			continue
		}
		req, res := side.At(c.Request), side.At(c.Response)
		if exact[[2]string{string(req.raw), string(res.raw)}] {
			continue
		}
		if len(there) == 0 {
			for _, e := range result.All() {
				there[a.sum(e)] = true
			}
			for _, d := range result.Calls() {
				if !d.Open() {
					pairs[[2]blobs.Hash{
						a.sum(result.At(d.Request)), a.sum(result.At(d.Response)),
					}] = true
				}
			}
		}
		p, q := a.sum(req), a.sum(res)
		if there[p] && there[q] && !pairs[[2]blobs.Hash{p, q}] {
			return fmt.Errorf("%s has lost its result", described(req))
		}
	}
	return nil
}

// described names an element without quoting it.
func described(e *Element) string {
	return fmt.Sprintf("the %s of %s", printable(string(e.Kind())), appendTime(nil, e.Time()))
}
