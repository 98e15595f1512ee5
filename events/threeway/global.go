package threeway

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

// A mergeGlobal is an element that is not an event, in all versions that have it. It is identified
// by its content and, among equal ones, by its ordinal. A delta is identified by its turn as well:
// see [mergeGlobal.keepsDelta].
type mergeGlobal struct {
	in    [versions]*sideGlobal
	turn  *mergeTurn // of a delta that has a turn
	delta *mergeDelta
	el    *events.Element
	sum   blobs.Hash
	place globalPlace
	cover cover // of a compaction
}

// A globalPlace is the place of an element that is not an event.
type globalPlace struct {
	turn   *mergeTurn
	after  int // index of the preceding event in the result's turn; -1 for none, or lastEvent
	before bool
}

// lastEvent is the last event of a turn, whichever it is. An element after the entire turn stays
// there when the turn is continued, and an element that moves there because the next turn was
// removed does too, so the order of the two changes does not matter.
const lastEvent = math.MaxInt

type globalKey struct {
	sum  blobs.Hash
	turn *mergeTurn // of a delta
	mid  bool       // the delta is inside the turn, not before it
	n    int
}

// mergeGlobals decides which elements that are not events are in the result, and where. They form a
// set, so they never conflict.
func (m *merger) mergeGlobals() []*mergeGlobal {
	byKey := map[globalKey]*mergeGlobal{}
	deltas := newMergeDeltas()
	var all []*mergeGlobal
	for v, s := range m.streams {
		count := map[globalKey]int{}
		for _, g := range s.globals {
			k := m.globalKeyOf(g)
			n := count[k]
			if !splits(g.el) { // the parts of one that was split are the same
				count[k]++
			}
			k.n = n
			mg := byKey[k]
			if mg == nil {
				mg = &mergeGlobal{sum: k.sum, turn: k.turn}
				byKey[k], all = mg, append(all, mg)
			}
			if g.el.Kind() == events.KindConfigDelta {
				mg.delta = deltas.add(k, g, v)
			}
			if mg.in[v] == nil {
				mg.in[v] = g
			}
			m.readCover(mg, g, v)
		}
	}
	all = slices.DeleteFunc(all, func(g *mergeGlobal) bool { return !m.decideGlobal(g) })
	return append(all, deltas.left()...)
}

// globalSum returns the hash of an element's content, ignoring the range of a compaction.
func (eq equality) globalSum(e *events.Element) blobs.Hash {
	if c, ok := e.Event().(*events.Compaction); ok {
		bare := *c
		bare.FromTurn, bare.ToTurn = 0, 0
		e = e.With(&bare).WithMember(events.MetadataTurns, nil)
	}
	return eq.sum(e)
}

// decideGlobal reports whether an element is in the result, and sets its form and place.
func (m *merger) decideGlobal(g *mergeGlobal) bool {
	if !g.stays() {
		return false
	}
	if g.delta != nil {
		g.el = g.delta.written()
	} else {
		g.el = oneOf(g.in[inBase].element(), g.in[inOurs].element(), g.in[inTheirs].element())
	}
	g.place = m.placeOf(g)
	m.mergeCover(g)
	return true
}

func (g *sideGlobal) element() *events.Element {
	if g == nil {
		return nil
	}
	return g.el
}

// oneOf returns which of the equal versions of an element is written. At least one side has one; a
// missing version is nil.
func oneOf(base, ours, theirs *events.Element) *events.Element {
	switch {
	case ours == nil:
		return theirs
	case theirs == nil:
		return ours
	default:
		return choose(base, ours, theirs, sameBytes, better)
	}
}

// stays reports whether an element is in the result.
func (g *mergeGlobal) stays() bool {
	b, o, t := g.in[inBase], g.in[inOurs], g.in[inTheirs]
	switch {
	case g.delta != nil:
		return g.keepsDelta()
	case b != nil:
		return o != nil && t != nil
	default:
		return o != nil || t != nil
	}
}

// placeOf decides the place of an element. A record of a session is placed as on the side that has
// more of the session, any other element as on the side that moved it, or at the earlier of both
// places.
func (m *merger) placeOf(g *mergeGlobal) globalPlace {
	var at [versions]*globalPlace
	for v, s := range g.in {
		if s == nil {
			continue
		}
		at[v] = &globalPlace{after: s.after, before: s.before}
		if s.turn != nil {
			at[v].turn = s.turn.merged
			switch {
			case s.before:
			case s.after == len(s.turn.events)-1:
				at[v].after = lastEvent
			default:
				at[v].after = s.turn.merged.placeOf(v, s.after)
			}
		}
	}
	same := func(a, b *globalPlace) bool { return a == b || a != nil && b != nil && *a == *b }
	switch {
	case at[inOurs] == nil:
		return *at[inTheirs]
	case at[inTheirs] == nil:
		return *at[inOurs]
	case m.long != inBase && g.el.Kind() == events.KindAgentRecord:
		return *at[m.long]
	}
	first := func(a, b *globalPlace) *globalPlace {
		if m.comparePlaces(*a, *b) <= 0 {
			return a
		}
		return b
	}
	return *choose(at[inBase], at[inOurs], at[inTheirs], same, first)
}

// placeOf returns the index of the event in the result that event i of a version corresponds to, so
// that an element that followed event i follows it.
func (t *mergeTurn) placeOf(version, i int) int {
	switch at := t.at[version]; {
	case i < 0:
		return i
	case at != nil && i < len(at):
		return at[i]
	default:
		return min(i, len(t.events)-1)
	}
}

func (m *merger) comparePlaces(a, b globalPlace) int {
	rank := func(p globalPlace) int {
		switch {
		case p.turn == nil && p.before:
			return 2
		case p.turn == nil:
			return 0
		default:
			return 1
		}
	}
	if x, y := rank(a), rank(b); x != y || x != 1 {
		return x - y
	}
	if c := m.compare(a.turn, b.turn); c != 0 {
		return c
	}
	if a.before != b.before {
		if a.before {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.after, b.after)
}

// sortGlobals sorts the elements at one place by time, with deltas last. If that changes the
// combined effect of deltas, a seam after them corrects it.
func (m *merger) sortGlobals(gs []*mergeGlobal) {
	slices.SortFunc(gs, func(a, b *mergeGlobal) int {
		delta := a.el.Kind() == events.KindConfigDelta
		if delta != (b.el.Kind() == events.KindConfigDelta) {
			if delta {
				return 1
			}
			return -1
		}
		if c := a.el.Time().Compare(b.el.Time()); c != 0 {
			return c
		}
		return bytes.Compare(a.sum[:], b.sum[:])
	})
}
