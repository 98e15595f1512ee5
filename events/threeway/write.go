package threeway

import (
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/go-json-experiment/json/jsontext"
)

// A mergeWriter writes the result.
type mergeWriter struct {
	m       *merger
	out     []*events.Element
	inForce settings.Config

	globals map[globalPlace][]*mergeGlobal
	covers  []*mergeGlobal    // the compactions
	deltas  []*events.Element // the deltas written so far, without seams
	seams   map[*mergeTurn]*events.Element
	endSeam *events.Element         // after the last turn; nil if none
	unset   map[*mergeTurn][]string // the keys that a turn ran without
	// positions holds the turns of the result by their index in [events.Stream.Turns], where
	// several legacy turns can share one.
	positions [][]*mergeTurn
	needs     map[*mergeTurn]*events.Element // the turn_start that the merge adds to a turn
	records   map[*mergeTurn][]string
}

// write returns the merged stream.
func (m *merger) write() *events.Stream {
	w := &mergeWriter{
		m: m, inForce: m.mergedBase,
		globals: map[globalPlace][]*mergeGlobal{},
		needs:   map[*mergeTurn]*events.Element{}, records: map[*mergeTurn][]string{},
		seams: map[*mergeTurn]*events.Element{}, unset: map[*mergeTurn][]string{},
	}
	all := m.mergeGlobals()
	w.covers = lists.Filter(all, func(g *mergeGlobal) bool {
		return g.el.Kind() == events.KindCompaction
	})
	w.placeGlobals(all)
	w.settle()
	w.number()
	w.at(globalPlace{after: -1})
	for _, t := range m.places {
		if t.events != nil {
			w.turn(t)
		}
	}
	w.at(atEnd)
	if w.endSeam != nil {
		w.out = append(w.out, w.endSeam)
	}
	return events.New(w.out...)
}

// settle decides the seams of all turns, and the keys that they ran without, before anything is
// written, because a turn that lacks a turn_start needs one to list them.
func (w *mergeWriter) settle() {
	for p := range w.globals {
		w.m.sortGlobals(w.globals[p])
	}
	w.pass(globalPlace{after: -1})
	for _, t := range w.m.places {
		if t.events == nil {
			continue
		}
		w.pass(globalPlace{turn: t, after: -1, before: true})
		seam, unset := w.m.seam(w.inForce, t)
		if seam != nil {
			w.seams[t] = seam
			w.inForce = w.m.joined(w.inForce, deltaOf(seam))
		}
		w.unset[t] = unset
		for i := range t.events {
			w.pass(globalPlace{turn: t, after: i})
		}
	}
	w.settleEnd()
}

// pass merges the deltas at a place into the configuration in force.
func (w *mergeWriter) pass(p globalPlace) {
	for _, g := range w.globals[p] {
		if g.el.Kind() == events.KindConfigDelta {
			w.deltas = append(w.deltas, g.el)
			w.inForce = w.m.joined(w.inForce, deltaOf(g.el))
		}
	}
}

// number decides which turns get a record of their parent or a turn_start, and with that the index
// of each turn.
func (w *mergeWriter) number() {
	last := w.m.root
	var bare *mergeTurn // the first of the legacy turns that count as one
	for _, t := range w.m.places {
		if t.events == nil {
			continue
		}
		own := t.events[0].Kind() == events.KindTurnStart
		if t.parent != last {
			w.records[t] = w.recordOf(t)
		}
		joins := !own && w.records[t] == nil && w.unset[t] == nil &&
			(last == w.m.root || bare != nil && w.follows(last, t, bare))
		switch {
		case joins && bare == nil:
			bare = t
		case own && isRepair(t.events):
			bare = t
		case own:
			bare = nil
		case !joins:
			bare = t
			w.needs[t] = turnStartOf(t)
		}
		if !joins || last == w.m.root {
			w.positions = append(w.positions, nil)
		}
		n := len(w.positions) - 1
		w.positions[n] = append(w.positions[n], t)
		last = t
	}
}

// follows reports whether t, which has no turn_start, will be read as a turn after last, and is
// covered by the same compactions as bare.
func (w *mergeWriter) follows(last, t, bare *mergeTurn) bool {
	answered := slices.ContainsFunc(last.events, func(e *events.Element) bool {
		c, ok := e.Event().(*events.ChatResponse)
		return ok && c.Form != events.FormReasoning
	})
	return answered && t.events[0].Kind() == events.KindChatRequest &&
		coverOf(w.covers, t) == coverOf(w.covers, bare)
}

// turnStartOf returns a turn_start for a turn that has none.
func turnStartOf(t *mergeTurn) *events.Element {
	at := t.events[0].Time()
	if q := firstRequest(t.events); q != nil {
		at = q.Time()
	}
	return events.NewTurnStart(at)
}

// recordOf returns the recorded parents of a turn: its nearest ancestors up to the second that
// exists, including missing ones, so that the second can replace the first if that is removed.
func (w *mergeWriter) recordOf(t *mergeTurn) []string {
	var names []string
	there := 0
	for p := t.parent; there < 2 && len(names) <= len(w.m.turns); p = p.parent {
		switch {
		case p == nil, p == w.m.root:
			return append(names, "")
		case p.events == nil:
			names = append(names, missingMark+w.m.name(p))
		default:
			names = append(names, w.m.name(p))
			there++
		}
	}
	return names
}

// placeGlobals sorts the elements that are not events by their places. If the turn of an element
// other than a delta was removed, the element follows the turn's nearest ancestor.
func (w *mergeWriter) placeGlobals(all []*mergeGlobal) {
	for _, g := range all {
		p := g.place
		switch {
		case p.turn == nil:
		case p.before:
		case p.turn.events == nil:
			p = w.lastOf(p.turn)
		default:
			p.after = min(max(p.after, 0), len(p.turn.events)-1)
		}
		w.globals[p] = append(w.globals[p], g)
	}
}

// lastOf returns the place after the nearest existing ancestor of a turn.
func (w *mergeWriter) lastOf(t *mergeTurn) globalPlace {
	for n := 0; t != nil && t != w.m.root && n <= len(w.m.turns); n++ {
		if t.events != nil {
			return globalPlace{turn: t, after: len(t.events) - 1}
		}
		t = t.parent
	}
	return globalPlace{after: -1}
}

// at writes the elements at a place.
func (w *mergeWriter) at(p globalPlace) {
	for _, g := range w.globals[p] {
		if g.el.Kind() == events.KindCompaction {
			w.out = append(w.out, w.compactions(g)...)
		} else {
			w.out = append(w.out, g.el)
		}
	}
}

func deltaOf(e *events.Element) jsontext.Value {
	d, _ := e.Event().(*events.ConfigDelta)
	return d.Delta
}

// turn writes a turn with the elements before it and in it.
func (w *mergeWriter) turn(t *mergeTurn) {
	w.at(globalPlace{turn: t, after: -1, before: true})
	if seam := w.seams[t]; seam != nil {
		w.out = append(w.out, seam)
	}
	if start := w.needs[t]; start != nil {
		w.out = append(w.out, w.recorded(start, t))
	}
	for i, e := range t.events {
		if i == 0 && e.Kind() == events.KindTurnStart {
			e = w.recorded(e, t)
		}
		w.out = append(w.out, e)
		w.at(globalPlace{turn: t, after: i})
	}
}

// recorded returns the turn_start of a turn with the notes that it needs: its parents, and the keys
// that it ran without.
func (w *mergeWriter) recorded(start *events.Element, t *mergeTurn) *events.Element {
	md := start.Metadata()
	for _, note := range []struct {
		key   string
		names []string
	}{{events.MetadataParent, w.records[t]}, {events.MetadataUnset, w.unset[t]}} {
		if note.names != nil {
			md = md.With(note.key, jsonspan.Array(note.names, jsonspan.Quoted[string]))
		}
	}
	if len(w.records[t])+len(w.unset[t]) == 0 {
		return start
	}
	return start.WithMetadata(md)
}

// conflicts returns the conflicts in the order of the result.
func (m *merger) conflicts() []Conflict {
	var all []Conflict
	after := ""
	for _, t := range m.places {
		if t.kind != "" {
			all = append(all, Conflict{
				Kind: t.kind, Turn: m.name(t), After: after,
				Base: eventsOf(t.in[inBase]), Ours: t.events, Theirs: t.theirs,
			})
		}
		if t.events != nil {
			after = m.name(t)
		}
	}
	return all
}
