package threeway

import (
	"strconv"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/go-json-experiment/json/jsontext"
)

// A cover is the set of turns that a compaction covers, in each version and in the result. A merge
// works with turns because ranges are positions, which it changes.
type cover struct {
	in     [versions]map[*mergeTurn]bool
	open   [versions]bool // the range extends beyond the last turn
	merged map[*mergeTurn]bool
}

// splits reports whether a compaction may be split. One that only leaves something out means the
// same for each turn alone; a summary does not.
func splits(e *events.Element) bool {
	c, ok := e.Event().(*events.Compaction)
	return ok && c.Summary == nil
}

// readCover adds the turns that g covers in a version.
func (m *merger) readCover(mg *mergeGlobal, g *sideGlobal, v int) {
	c, ok := g.el.Event().(*events.Compaction)
	if !ok {
		return
	}
	if mg.cover.in[v] == nil {
		mg.cover.in[v] = map[*mergeTurn]bool{}
	}
	noted := jsonspan.MemberOf(g.el.Raw(), events.MetadataTurns)
	if names := jsonspan.Strings(noted); names != nil {
		for _, name := range names {
			if t := m.turnNamed(name, v); t != m.root {
				mg.cover.in[v][t] = true
			}
		}
		return
	}
	turns := m.streams[v].turns
	mg.cover.open[v] = len(turns) > 0 && c.ToTurn > turns[len(turns)-1].index
	for _, t := range turns {
		if c.FromTurn <= t.index && t.index <= c.ToTurn {
			mg.cover.in[v][t.merged] = true
		}
	}
}

// mergeCover decides for each turn whether it is covered.
func (m *merger) mergeCover(g *mergeGlobal) {
	if g.el.Kind() != events.KindCompaction {
		return
	}
	g.cover.merged = map[*mergeTurn]bool{}
	for _, in := range g.cover.in {
		for t := range in {
			if g.cover.of(t) {
				g.cover.merged[t] = true
			}
		}
	}
}

// of reports whether a turn is covered in the result. A side that differs from base decides, and a
// side has no opinion about a turn that it does not have.
func (c *cover) of(t *mergeTurn) bool {
	says := func(v int) (covered, known bool) {
		return c.in[v][t], c.in[v] != nil && (t.in[v] != nil || c.in[v][t])
	}
	b, inB := says(inBase)
	o, inO := says(inOurs)
	th, inT := says(inTheirs)
	switch {
	case !inO:
		return inT && th
	case !inT, o == th:
		return o
	case !inB:
		return true
	default:
		return o != b == o // the side that differs from base
	}
}

// A run is a range of adjacent turns of the result, by position.
type run struct{ from, to int }

// runs returns the runs of turns that a compaction covers. Legacy turns that count as one turn are
// covered only if all of them are.
func (w *mergeWriter) runs(g *mergeGlobal) []run {
	var runs []run
	for i, turns := range w.positions {
		if len(turns) == 0 {
			continue
		}
		all := true
		for _, t := range turns {
			all = all && g.cover.merged[t]
		}
		switch n := len(runs); {
		case !all:
		case n > 0 && runs[n-1].to == i-1:
			runs[n-1].to = i
		default:
			runs = append(runs, run{i, i})
		}
	}
	return runs
}

// compactions returns the compactions that replace one in the result: itself with its range moved,
// several, or none.
func (w *mergeWriter) compactions(g *mergeGlobal) []*events.Element {
	c, _ := g.el.Event().(*events.Compaction)
	runs := w.runs(g)
	bare := g.el.WithMember(events.MetadataTurns, nil)
	switch {
	case len(runs) == 0:
		w.m.warn("the compaction of %s no longer covers a turn and is left out",
			events.AppendTime(nil, g.el.Time()))
		return nil
	case c.Summary != nil && g.outgrown():
		w.m.warn("the summary of %s covers a turn that the other side continued: it does not say "+
			"what came since", events.AppendTime(nil, g.el.Time()))
	}
	switch {
	case c.Summary == nil || len(runs) == 1:
		return lists.Map(runs, func(r run) *events.Element { return w.ranged(g, bare, r) })
	}
	longest := runs[0]
	for _, r := range runs {
		if r.to-r.from > longest.to-longest.from {
			longest = r
		}
	}
	w.m.warn("the turns of the summary of %s lie apart now: it stands for %d to %d only",
		events.AppendTime(nil, g.el.Time()), longest.from+1, longest.to+1)
	ranged := w.ranged(g, bare, longest)
	return []*events.Element{ranged.WithMember(events.MetadataTurns, w.covered(g))}
}

// outgrown reports whether a compaction that only one side has covers a turn that has more events
// in the result than on that side.
func (g *mergeGlobal) outgrown() bool {
	if g.in[inBase] != nil {
		return false
	}
	for t := range g.cover.merged {
		for v := inOurs; v <= inTheirs; v++ {
			if g.in[v] == nil || t.in[v] == nil || g.in[inOurs+inTheirs-v] != nil {
				continue
			}
			if spoken(t.events) > spoken(t.in[v].events) {
				return true
			}
		}
	}
	return false
}

// spoken counts the events of a turn except turn_starts, which a merge may add.
func spoken(es []*events.Element) (n int) {
	for _, e := range es {
		if e.Kind() != events.KindTurnStart {
			n++
		}
	}
	return n
}

// ranged returns a compaction with the range r. One that extended beyond the last turn keeps doing
// so.
func (w *mergeWriter) ranged(g *mergeGlobal, e *events.Element, r run) *events.Element {
	old, _ := e.Event().(*events.Compaction)
	c, open := *old, true
	for v := inOurs; v <= inTheirs; v++ {
		open = open && (g.in[v] == nil || g.cover.open[v])
	}
	c.FromTurn = r.from
	if !open || r.to < len(w.positions)-1 {
		c.ToTurn = r.to
	}
	return e.With(&c)
}

// covered returns the names of all turns that a compaction covers.
func (w *mergeWriter) covered(g *mergeGlobal) jsontext.Value {
	var names []string
	for _, t := range w.m.places {
		if t.events != nil && g.cover.merged[t] {
			names = append(names, w.m.name(t))
		}
	}
	return jsonspan.Array(names, func(s string) []byte { return jsonspan.Quoted(s) })
}

// coverOf returns a key for the set of compactions that cover a turn.
func coverOf(gs []*mergeGlobal, t *mergeTurn) string {
	var b []byte
	for i, g := range gs {
		if g.cover.merged[t] {
			b = strconv.AppendInt(append(b, ' '), int64(i), 10)
		}
	}
	return string(b)
}
