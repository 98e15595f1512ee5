package threeway

import (
	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// The result for a delta does not depend on the order in which branches are merged, because it
// consists of two answers that are independent of that order.
//
// Whether the delta is in the conversation at all is decided three-way, by its content, wherever it
// is. Removing a delta removes it from all turns that came to follow it; the configuration that
// they ran with is restored by seams.
//
// Where the delta is written is a set of places that only grows. A place is a turn that the delta
// precedes or is in. Removing a turn while keeping its deltas adds the turn that then follows. So
// for all commits that a merge contains, the set is the union, and a file shows the part of it
// whose turns it has:
//
//   - No branch removed a turn that is in the result, so each side that knows the turn's place
//     shows it. The result shows the union of what the sides show, without the removed turns. No
//     place is preferred, and base is consulted only to find out whether a side removed the
//     delta from a turn, so nothing is left for the order to decide.
//   - That a turn was removed does not depend on the order either: no merge restores a turn.
//
// Choosing a single place, or removing a delta from the set because one of its turns was removed,
// loses a place that a branch merged later still knows.
//
// The end of the stream is not a place, because a turn that is appended takes over the deltas
// there. A delta is at the end if it is in the conversation and no turn has it, which follows from
// the two answers. Deciding three-way whether it was left there would depend on the order once a
// third branch removes a turn that had taken it over.
//
// A delta may thus be written twice, before turns of two branches that both took it over. Seams
// restore the configuration that turns ran with, whatever precedes them.

// A mergeDelta is a delta, wherever it is written.
type mergeDelta struct {
	sum   blobs.Hash
	in    [versions]*events.Element
	shown bool // a turn of the result has it
}

type deltaKey struct {
	sum blobs.Hash
	n   int // the ordinal among equal deltas at one place
}

// mergeDeltas holds the deltas of all versions.
type mergeDeltas struct {
	byKey map[deltaKey]*mergeDelta
	all   []*mergeDelta
}

func newMergeDeltas() *mergeDeltas {
	return &mergeDeltas{byKey: map[deltaKey]*mergeDelta{}}
}

// add records a place of a delta in a version.
func (ds *mergeDeltas) add(k globalKey, g *sideGlobal, version int) *mergeDelta {
	of := deltaKey{k.sum, k.n}
	d := ds.byKey[of]
	if d == nil {
		d = &mergeDelta{sum: k.sum}
		ds.byKey[of], ds.all = d, append(ds.all, d)
	}
	if d.in[version] == nil {
		d.in[version] = g.el
	}
	return d
}

// stays reports whether a delta is still in the conversation.
func (d *mergeDelta) stays() bool {
	if d.in[inBase] != nil {
		return d.in[inOurs] != nil && d.in[inTheirs] != nil
	}
	return d.in[inOurs] != nil || d.in[inTheirs] != nil
}

// written returns the delta as it is written, the same at each of its places.
func (d *mergeDelta) written() *events.Element {
	return oneOf(d.in[inBase], d.in[inOurs], d.in[inTheirs])
}

// left returns the deltas at the end of the stream.
func (ds *mergeDeltas) left() []*mergeGlobal {
	var all []*mergeGlobal
	for _, d := range ds.all {
		if d.shown || !d.stays() {
			continue
		}
		all = append(all, &mergeGlobal{sum: d.sum, el: d.written(), place: atEnd})
	}
	return all
}

// atEnd is the place of deltas that no turn has.
var atEnd = globalPlace{after: -1, before: true}

// settleEnd decides which elements follow the last turn. A delta whose turns were removed ends up
// after newer ones and must not undo their settings, so a seam sets them again.
func (w *mergeWriter) settleEnd() {
	newer, want := w.deltas, w.inForce
	w.pass(atEnd)
	var last *events.Element
	for _, g := range w.globals[atEnd] {
		if g.el.Kind() == events.KindConfigDelta {
			want, last = w.m.behind(want, g.el, newer), g.el
		}
	}
	if last == nil || w.m.configs.same(w.inForce, want) {
		return
	}
	if delta, _ := restore(w.inForce, want); string(delta) != "{}" {
		w.endSeam = events.NewSeam(last.Time(), delta)
	}
}

// behind returns the configuration after a delta that follows others. Keys that a newer one of them
// sets keep their values.
func (m *merger) behind(
	was settings.Config, e *events.Element, others []*events.Element,
) settings.Config {
	now := m.joined(was, deltaOf(e))
	back, _ := settings.Diff(now, was)
	for _, other := range others {
		if !other.Time().After(e.Time()) {
			continue
		}
		now = m.joined(now, restricted(back, deltaOf(other)))
	}
	return now
}

// restricted returns the members of a delta that another one has as well.
func restricted(delta, to jsontext.Value) jsontext.Value {
	var fs []jsonspan.Field
	others := jsonspan.Members(to)
	for _, mb := range jsonspan.Members(delta) {
		other, ok := jsonspan.Find(others, mb.Name)
		if !ok {
			continue
		}
		v, x := jsontext.Value(mb.Value(delta)), jsontext.Value(other.Value(to))
		if jsonspan.IsObject(v) && jsonspan.IsObject(x) && jsonspan.MemberOf(v, "strategy") == nil {
			v = restricted(v, x)
		}
		fs = append(fs, jsonspan.Field{Name: mb.Name, Value: v})
	}
	return jsonspan.Object(fs)
}

// globalKeyOf returns the identity of an element, except for its ordinal.
func (m *merger) globalKeyOf(g *sideGlobal) globalKey {
	k := globalKey{sum: m.globalSum(g.el)}
	if g.el.Kind() == events.KindConfigDelta && g.turn != nil {
		k.turn, k.mid = g.turn.merged, !g.before
	}
	return k
}

// keepsDelta reports whether a delta is written before or in its turn: the turn is in the result,
// and no side that has the turn removed the delta from it.
func (g *mergeGlobal) keepsDelta() bool {
	if g.turn == nil || g.turn.events == nil || !g.delta.stays() {
		return false
	}
	for v := inOurs; v <= inTheirs; v++ {
		if g.in[inBase] != nil && g.in[v] == nil && g.turn.in[v] != nil {
			return false
		}
	}
	keeps := g.in[inOurs] != nil || g.in[inTheirs] != nil
	g.delta.shown = g.delta.shown || keeps
	return keeps
}
