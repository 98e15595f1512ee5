package threeway

import (
	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/internal/jsonspan"
	"github.com/git-jp/git-jp/events/settings"
	"github.com/go-json-experiment/json/jsontext"
)

// Deltas do not depend on the order in which branches meet, because two things are asked
// of each, and both have one answer for all orders.
//
// Whether it is in the conversation at all: three-way, by what it says, wherever it
// stands. Whoever takes a delta away takes it away for all turns that came to stand behind
// it; what they ran under is restored by seams.
//
// Where it stands: at a set of places that only grows. A place is a turn that the delta
// stands before or in. Whoever removes a turn and leaves its deltas adds to them the turn
// that then follows. So of the commits that a merge contains the set is the union, and
// what a file shows of it is the part whose turns are there:
//
//   - A turn that is in the result was removed by nobody, so each side that knows the
//     turn's place shows it. What the result shows is the union of what the sides show,
//     less the turns that went. No place is preferred, and base is asked only whether
//     somebody took the delta away from a turn, so nothing is left for the order to decide.
//   - That a turn went is the same for all orders, too: no merge brings one back.
//
// Choosing one place instead, or taking a delta out of the set because one of its
// turns went, loses a place that a branch that comes later still knows.
//
// The end of the stream is no such place, because whoever appends a turn takes the delta
// from there. A delta stands at the end if it is in the conversation and no turn has it:
// that follows from the two answers, and so needs none of its own. Asking three-way whether
// it was left there depends on the order once a third branch removes a turn that had taken
// it over.
//
// A delta may thus be written twice, before turns of two branches that both took it
// over. What turns run under is restored by seams, whatever stands before them.

// A mergeDelta is a delta with whatever it stands before.
type mergeDelta struct {
	sum   blobs.Hash
	in    [versions]*events.Element
	shown bool // a turn of the result has it
}

type deltaKey struct {
	sum blobs.Hash
	n   int // which of those that say the same at one place
}

// mergeDeltas are the deltas of all versions.
type mergeDeltas struct {
	byKey map[deltaKey]*mergeDelta
	all   []*mergeDelta
}

func newMergeDeltas() *mergeDeltas {
	return &mergeDeltas{byKey: map[deltaKey]*mergeDelta{}}
}

// add takes note of a place of a delta in a version.
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

// stays reports whether a delta is in the conversation still.
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

// left returns the deltas that stand at the end.
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

// atEnd is where a delta stands that no turn has.
var atEnd = globalPlace{after: -1, before: true}

// settleEnd decides what stands behind the last turn. A delta that lost its turns comes to stand
// behind newer ones, and must not take back what they set: a seam says that again.
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

// behind returns what is in force once a delta has come behind others: of keys that a
// newer one of them sets it changes nothing.
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

// restricted returns the members of a delta that another one has, too.
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

// globalKeyOf returns what an element is known by, except its number.
func (m *merger) globalKeyOf(g *sideGlobal) globalKey {
	k := globalKey{sum: m.globalSum(g.el)}
	if g.el.Kind() == events.KindConfigDelta && g.turn != nil {
		k.turn, k.mid = g.turn.merged, !g.before
	}
	return k
}

// keepsDelta reports whether a delta stands in the result before or in a turn: the turn
// has to be there, and nobody who has it took the delta away from it.
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
