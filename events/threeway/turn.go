package threeway

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
)

// turnContent is the result of merging one turn.
type turnContent struct {
	events []*events.Element // nil if the turn is not in the result
	theirs []*events.Element // the same, with theirs in each conflict
	kind   ConflictKind
	// at has for each event of each version the index of the event in the result that it
	// corresponds to; nil if they are the same, one by one.
	at [versions][]int
}

// A contentMerge merges the events of turns.
type contentMerge struct {
	equality

	whole bool // report a turn that both sides changed as one conflict
}

// mergeTurns merges the content of each turn.
func (m *merger) mergeTurns() {
	for _, t := range m.turns {
		b, o, th := eventsOf(t.in[inBase]), eventsOf(t.in[inOurs]), eventsOf(t.in[inTheirs])
		switch {
		case o == nil && th == nil:
		case b == nil && o == nil:
			t.events = th
		case b == nil && th == nil:
			t.events = o
		case o == nil:
			t.turnContent = m.removedTurn(b, th)
			t.events, t.theirs = t.theirs, t.events
		case th == nil:
			t.turnContent = m.removedTurn(b, o)
		default:
			t.turnContent = m.mergeEvents([versions][]*events.Element{b, o, th})
		}
		if t.kind != "" && m.virtual {
			t.turnContent = turnContent{events: b}
		}
	}
}

func eventsOf(t *sideTurn) []*events.Element {
	if t == nil {
		return nil
	}
	return t.events
}

// removedTurn merges a turn that one side removed and the other has as kept: it is removed unless
// it was changed or pinned. A turn_start that a repair inserted is not a change.
func (cm *contentMerge) removedTurn(base, kept []*events.Element) turnContent {
	unrepaired := func(es []*events.Element) []*events.Element {
		if isRepair(es) {
			return es[1:]
		}
		return es
	}
	if slices.EqualFunc(unrepaired(base), unrepaired(kept), cm.sameIn) {
		return turnContent{}
	}
	return turnContent{events: kept, kind: ConflictRemoved}
}

// An equality compares elements and caches their hashes.
type equality struct{ sums map[string]blobs.Hash }

func newEquality() equality { return equality{map[string]blobs.Hash{}} }

// same is [events.Equal] with cached hashes.
func (eq equality) same(a, b *events.Element) bool {
	return a == b || bytes.Equal(a.Raw(), b.Raw()) || a.Kind() == b.Kind() && eq.sum(a) == eq.sum(b)
}

// sum is [events.Element.Sum], computed once for the same bytes.
func (eq equality) sum(e *events.Element) blobs.Hash {
	h, ok := eq.sums[string(e.Raw())]
	if !ok {
		h = e.Sum()
		eq.sums[string(e.Raw())] = h
	}
	return h
}

// better chooses between equal elements with different bytes: the one that is pinned, or else the
// one whose content is references, or else the one with the smaller bytes.
func better(a, b *events.Element) *events.Element {
	if x, y := isPinned(a), isPinned(b); x != y {
		if x {
			return a
		}
		return b
	}
	if x, y := a.HasInline(), b.HasInline(); x != y {
		if x {
			return b
		}
		return a
	}
	if bytes.Compare(a.Raw(), b.Raw()) <= 0 {
		return a
	}
	return b
}

// sameBytes compares elements by their bytes, so that it distinguishes equal ones. A nil element is
// the same as another nil only.
func sameBytes(a, b *events.Element) bool {
	return a == b || a != nil && b != nil && bytes.Equal(a.Raw(), b.Raw())
}

// A cell is one event of a turn in all versions that have it.
type cell struct {
	in           [versions]*events.Element
	ours, theirs *events.Element // the result with ours and with theirs; nil if removed
	kind         ConflictKind
	merged       int // index in the result
}

// A cellKey identifies an event of a turn regardless of its content.
type cellKey struct {
	kind events.Kind
	id   string
	time time.Time
}

// mergeEvents merges a turn that both sides have.
func (cm *contentMerge) mergeEvents(in [versions][]*events.Element) turnContent {
	if done, ok := cm.mergeQuickly(in); ok {
		return done
	}
	if cm.whole {
		return turnContent{events: in[inOurs], theirs: in[inTheirs], kind: ConflictEdited}
	}
	cells := cm.align(in)
	order, ok := orderCells(cells)
	if !ok { // both reordered the events
		return turnContent{events: in[inOurs], theirs: in[inTheirs], kind: ConflictEdited}
	}
	var c turnContent
	for _, list := range cells {
		for _, x := range list {
			x.merged = -1
		}
	}
	for _, x := range append(slices.Clip(cells[inBase]), order.added...) {
		cm.decide(x)
		c.kind = cmp.Or(c.kind, x.kind)
	}
	if c.kind != "" {
		keepPairs(in, cells)
	} else if order.continued {
		c.kind = ConflictContinued
	}
	for _, x := range order.ours {
		if x.ours != nil {
			x.merged = len(c.events)
			c.events = append(c.events, x.ours)
		}
	}
	for _, x := range order.theirs {
		if x.theirs != nil {
			c.theirs = append(c.theirs, x.theirs)
		}
	}
	for v, list := range cells {
		c.at[v] = positions(list)
	}
	return c
}

// mergeQuickly handles turns that no side changed, or that only one did.
func (cm *contentMerge) mergeQuickly(in [versions][]*events.Element) (turnContent, bool) {
	same := func(a, b []*events.Element) bool { return slices.EqualFunc(a, b, sameBytes) }
	switch b, o, th := in[inBase], in[inOurs], in[inTheirs]; {
	case same(o, th):
		return turnContent{events: o}, true
	case cm.whole && b != nil && same(b, o):
		return turnContent{events: th}, true
	case cm.whole && b != nil && same(b, th):
		return turnContent{events: o}, true
	default:
		return turnContent{}, false
	}
}

// positions returns for each cell its index in the result, or that of the nearest cell before it
// that is in the result.
func positions(cells []*cell) []int {
	at, last := make([]int, len(cells)), -1
	for i, x := range cells {
		if x.merged >= 0 {
			last = x.merged
		}
		at[i] = last
	}
	return at
}

// align matches the events of the versions. The result has for each version its events in order.
func (cm *contentMerge) align(in [versions][]*events.Element) [versions][]*cell {
	var cells [versions][]*cell
	var byKey [versions]map[cellKey][]*cell
	var keys []cellKey
	for v, list := range in {
		byKey[v] = map[cellKey][]*cell{}
		for _, e := range list {
			x := &cell{}
			x.in[v] = e
			k := cellKey{e.Kind(), e.EventID(), e.Time()}
			if byKey[inBase][k] == nil && byKey[inOurs][k] == nil && byKey[v][k] == nil {
				keys = append(keys, k)
			}
			byKey[v][k] = append(byKey[v][k], x)
			cells[v] = append(cells[v], x)
		}
	}
	into := map[*cell]*cell{}
	for _, k := range keys {
		cm.alignKey(byKey[inBase][k], byKey[inOurs][k], byKey[inTheirs][k], into)
	}
	for v := range cells {
		for i, x := range cells[v] {
			if y := into[x]; y != nil {
				cells[v][i] = y
			}
		}
	}
	return cells
}

// alignKey pairs the events with one key: first with those of base, then those that both sides
// added with each other. It adds the cells that were joined to others to into.
func (cm *contentMerge) alignKey(base, ours, theirs []*cell, into map[*cell]*cell) {
	join := func(v int) func(a, b *cell) {
		return func(a, b *cell) {
			a.in[v] = b.in[v]
			into[b] = a
		}
	}
	added := pairUp(base, ours, cm.sameEvent(), true, join(inOurs))
	left := pairUp(base, theirs, cm.sameEvent(), true, join(inTheirs))
	pairUp(added, left, cm.sameEvent(), true, join(inTheirs))
}

func firstOfCell(x *cell) *events.Element {
	for _, e := range x.in {
		if e != nil {
			return e
		}
	}
	return nil
}

// decide merges one event.
func (cm *contentMerge) decide(x *cell) {
	b, o, th := x.in[inBase], x.in[inOurs], x.in[inTheirs]
	switch {
	case o == nil && th == nil:
	case o != nil && th != nil && cm.same(o, th):
		x.ours = choose(b, o, th, sameBytes, better)
		x.theirs = x.ours
	case b == nil && (o == nil || th == nil):
		x.ours, x.theirs = o, th // orderCells decides which of the two counts
		if o == nil {
			x.ours = th
		}
		if th == nil {
			x.theirs = o
		}
	case b != nil && cm.sameIn(b, o):
		x.ours, x.theirs = th, th
	case b != nil && cm.sameIn(b, th):
		x.ours, x.theirs = o, o
	default:
		x.ours, x.theirs, x.kind = o, th, ConflictEdited
	}
}

// keepPairs makes a conflict about one half of a call or of a question be about the other half too,
// if a side removed both: a result without its call is of no use to a model, nor a call without its
// result.
func keepPairs(in [versions][]*events.Element, cells [versions][]*cell) {
	for _, side := range []int{inOurs, inTheirs} {
		other := inOurs + inTheirs - side
		keep := func(request, response int) {
			if response < 0 {
				return
			}
			x, y := cells[side][request], cells[side][response]
			if x.in[other] == nil && y.in[other] == nil && (x.kind != "") != (y.kind != "") {
				for _, half := range []*cell{x, y} {
					half.ours, half.theirs = half.in[inOurs], half.in[inTheirs]
				}
			}
		}
		s := events.New(in[side]...)
		for _, c := range s.Calls() {
			keep(c.Request, c.Response)
		}
		for _, q := range s.Inquiries() {
			keep(q.Request, q.Response)
		}
	}
}

// sameIn is same for a version that may not have the event. A new pin counts there: what a person
// holds is not removed or changed without a question.
func (eq equality) sameIn(base, side *events.Element) bool {
	return side != nil && eq.same(base, side) && (isPinned(base) || !isPinned(side))
}

// A cellOrder is the order of a turn's events, with ours and with theirs in each place where both
// sides continued differently.
type cellOrder struct {
	ours, theirs []*cell
	added        []*cell
	continued    bool

	placed [2]map[*cell]bool // cells added so far, to ours and to theirs
}

// orderCells orders the events of a turn: those of base as in base, or as on the only side that
// moved some, each followed by the events that were added after it. It returns false if both sides
// moved events differently.
func orderCells(cells [versions][]*cell) (cellOrder, bool) {
	index := make(map[*cell]int, len(cells[inBase]))
	for i, x := range cells[inBase] {
		index[x] = i
	}
	frame := cells[inBase]
	movedO, movedT := moved(cells[inOurs], index), moved(cells[inTheirs], index)
	switch {
	case movedO && movedT:
		// Comparing all events is stricter than necessary, but the case is rare.
		if !slices.Equal(cells[inOurs], cells[inTheirs]) {
			return cellOrder{}, false
		}
		frame = reframed(frame, cells[inOurs], index)
	case movedO:
		frame = reframed(frame, cells[inOurs], index)
	case movedT:
		frame = reframed(frame, cells[inTheirs], index)
	}
	for i, x := range frame {
		index[x] = i
	}
	ours, theirs := gaps(cells[inOurs], index), gaps(cells[inTheirs], index)
	var o cellOrder
	o.placed = [2]map[*cell]bool{{}, {}}
	for i := range len(frame) + 1 {
		o.gap(ours[i-1], theirs[i-1])
		if i < len(frame) {
			o.ours, o.theirs = append(o.ours, frame[i]), append(o.theirs, frame[i])
		}
	}
	return o, true
}

// moved reports whether a version has the events of base in another order.
func moved(cells []*cell, index map[*cell]int) bool {
	last := -1
	for _, x := range cells {
		if i, ok := index[x]; ok {
			if i < last {
				return true
			}
			last = i
		}
	}
	return false
}

// reframed returns the events of base in the order of a side. Events that the side does not have
// still follow the event that they followed in base.
func reframed(base, side []*cell, index map[*cell]int) []*cell {
	in := lists.Set(side)
	gone := map[*cell][]*cell{} // by the event that they follow; nil at the beginning
	var last *cell
	for _, x := range base {
		if in[x] {
			last = x
		} else {
			gone[last] = append(gone[last], x)
		}
	}
	frame := slices.Clone(gone[nil])
	for _, x := range side {
		if _, ok := index[x]; ok {
			frame = append(append(frame, x), gone[x]...)
		}
	}
	return frame
}

// gaps returns the events that a side added, by the index of the preceding event of base, or -1.
func gaps(cells []*cell, index map[*cell]int) map[int][]*cell {
	added, last := map[int][]*cell{}, -1
	for _, x := range cells {
		if i, ok := index[x]; ok {
			last = i
		} else {
			added[last] = append(added[last], x)
		}
	}
	return added
}

// gap adds the events that the sides added in one place. If one side added everything that the
// other did, its additions are the result: it continued where the other stopped.
func (o *cellOrder) gap(ours, theirs []*cell) {
	switch {
	case holdsAll(ours, theirs):
		theirs = ours
	case holdsAll(theirs, ours):
		ours = theirs
	default:
		o.continued = true
	}
	o.ours = o.place(o.ours, ours, 0)
	o.theirs = o.place(o.theirs, theirs, 1)
}

// holdsAll reports whether cells has all events of part, in the same order.
func holdsAll(cells, part []*cell) bool {
	for _, x := range cells {
		if len(part) > 0 && part[0] == x {
			part = part[1:]
		}
	}
	return len(part) == 0
}

// place appends the cells that were not placed before. If both sides added an event in different
// places, the first counts.
func (o *cellOrder) place(to, cells []*cell, which int) []*cell {
	for _, x := range cells {
		if o.placed[which][x] {
			continue
		}
		if !o.placed[1-which][x] {
			o.added = append(o.added, x)
		}
		o.placed[which][x] = true
		to = append(to, x)
	}
	return to
}
