package events

import (
	"slices"

	"github.com/git-jp/git-jp/blobs"
)

// Deltas do not depend on the order in which branches meet, because each is a set of
// places that only grows. A place is a turn that the delta stands before or in. Whoever
// removes a turn and leaves its deltas adds to them the turn that then follows; nobody
// else changes the set. So of the commits that a merge contains the set is the union,
// and what a file shows of it is the part whose turns are there:
//
//   - A turn that is in the result was removed by nobody, so each side that knows the
//     turn's place shows it. What the result shows is the union of what the sides show,
//     less the turns that went. No place is preferred, and base is asked only whether
//     somebody took the delta itself away, so nothing is left for the order to decide.
//   - That a turn went is the same for all orders, too: no merge brings one back.
//
// Choosing one place instead, or taking a delta out of the set because one of its
// turns went, loses a place that a branch that comes later still knows.
//
// The end of the stream is no such place: whoever appends a turn takes the delta from
// there. So it counts three-way, and only as long as no turn has the delta. A merge in
// which one has forgets that the delta was left at the end, too; should that turn go in
// a later merge, so does the delta. This much does depend on the order.
//
// A delta may thus be written twice, before turns of two branches that both took it
// over. What turns run under is restored by seams, whatever stands before them.

// globalKeyOf returns what an element is known by, but for its number.
func (m *merger) globalKeyOf(g *sideGlobal) globalKey {
	k := globalKey{sum: m.globalSum(g.el)}
	if g.el.Kind() == KindConfigDelta && g.turn != nil {
		k.turn, k.mid = g.turn.merged, !g.before
	}
	return k
}

// keepsDelta reports whether a delta stands in the result before or in a turn: the turn
// has to be there, and nobody who has it took the delta away from it.
func (g *mergeGlobal) keepsDelta() bool {
	if g.turn.events == nil {
		return false
	}
	for v := inOurs; v <= inTheirs; v++ {
		if g.in[inBase] != nil && g.in[v] == nil && g.turn.in[v] != nil {
			return false
		}
	}
	return g.in[inOurs] != nil || g.in[inTheirs] != nil
}

// withoutTaken leaves out the deltas at the end that a turn has taken over: one that
// was appended behind them, on any branch.
func withoutTaken(all []*mergeGlobal) []*mergeGlobal {
	taken := map[blobs.Hash]bool{}
	for _, g := range all {
		if g.turn != nil {
			taken[g.sum] = true
		}
	}
	return slices.DeleteFunc(all, func(g *mergeGlobal) bool {
		return g.turn == nil && g.el.Kind() == KindConfigDelta && taken[g.sum]
	})
}
