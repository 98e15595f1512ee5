package threeway

import (
	"cmp"
	"math"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/jsonspan"
)

// A turnKey identifies a turn in all versions by the times of its beginning and of its first
// request, in microseconds. It does not change when a turn_start is inserted before the first
// request, as jp does when it repairs a stream.
type turnKey struct{ start, request int64 }

func (k turnKey) compare(l turnKey) int {
	return cmp.Or(cmp.Compare(k.start, l.start), cmp.Compare(k.request, l.request))
}

// A sideTurn is a turn of one version. Before the first turn_start a request that follows an answer
// begins another turn, so that a stream without any turn_start has several. The same applies after
// a turn_start that a repair inserted, which has the time of the request that it precedes.
type sideTurn struct {
	key    turnKey
	events []*events.Element // without what earlier merges added
	record []string          // the recorded parents, nil if there are none
	index  int               // as in [events.Stream.Turns]
	config settings.Config   // in force where the turn begins
	merged *mergeTurn

	anyConfig bool // the configuration that it ran with is unknown
	answered  bool // it has a message of the assistant
}

// A sideGlobal is an element that is not an event, with its place in one version.
type sideGlobal struct {
	el     *events.Element
	turn   *sideTurn // nil: at the very beginning or, if before is set, at the very end
	after  int       // index of the event of turn that it follows
	before bool      // it precedes turn, as all deltas between two turns do
}

// A sideStream is one version, as read.
type sideStream struct {
	turns   []*sideTurn
	globals []*sideGlobal
}

// A sideReader reads a version into turns and other elements.
type sideReader struct {
	sideStream
	configs *configCache
	config  settings.Config
	turn    *sideTurn // nil before the first turn
	index   int
	open    bool          // the stream's own first turn_start has not come yet: see sideTurn
	fresh   bool          // the next event begins a turn
	record  []string      // its recorded parents
	unset   []string      // the keys that the next turn ran without
	waiting []*sideGlobal // deltas before whatever element comes next
}

// read reads a version.
func (m *merger) read(version int) error {
	s := m.sides[version].Stream
	r := &sideReader{configs: m.configs, config: m.bases[version], index: -1, open: true}
	for i, e := range s.All() {
		if err := e.Err(); err != nil {
			return s.ErrorAt(i, err)
		}
		if err := r.element(e); err != nil {
			return s.ErrorAt(i, err)
		}
	}
	for _, g := range r.waiting {
		g.turn, g.after, g.before = nil, -1, true
	}
	for _, t := range r.turns {
		t.key = keyOf(t.events)
	}
	m.streams[version] = &r.sideStream
	return nil
}

func (r *sideReader) element(e *events.Element) error {
	switch kind := e.Kind(); {
	case kind == events.KindTurnStart:
		r.turnStart(e)
	case kind.IsEvent():
		r.event(e)
	case kind == events.KindConfigDelta:
		return r.delta(e)
	default:
		g := &sideGlobal{el: e, turn: r.turn, after: -1}
		r.addGlobal(g)
	}
	return nil
}

func (r *sideReader) addGlobal(g *sideGlobal) {
	if r.turn != nil {
		g.after = len(r.turn.events) - 1
	}
	r.globals = append(r.globals, g)
}

func (r *sideReader) turnStart(e *events.Element) {
	r.index++
	own, notes := withoutNotes(e)
	r.open, r.fresh, r.record, r.unset = own == nil, true, notes.record, notes.unset
	if own != nil {
		r.begin()
		r.add(own)
	}
}

func (r *sideReader) event(e *events.Element) {
	if r.index < 0 {
		r.index = 0
	}
	another := r.open && e.Kind() == events.KindChatRequest && r.turn != nil && r.turn.answered
	if r.fresh || r.turn == nil || another {
		r.begin()
	}
	if r.add(e); e.Kind() == events.KindChatRequest && isRepair(r.turn.events) {
		r.open = true
	}
}

// isRepair reports whether a turn begins with a turn_start that a repair inserted.
func isRepair(es []*events.Element) bool {
	q := firstRequest(es)
	return q != nil && es[0].Kind() == events.KindTurnStart && es[0].Time().Equal(q.Time())
}

// begin opens a turn at the current event.
func (r *sideReader) begin() {
	t := &sideTurn{record: r.record, index: r.index, config: r.configs.ran(r.config, r.unset)}
	r.fresh, r.record, r.unset = false, nil, nil
	r.settle(t)
	r.turn = t
	r.turns = append(r.turns, t)
}

func (r *sideReader) add(e *events.Element) {
	r.settle(nil)
	r.turn.events = append(r.turn.events, e)
	if c, ok := e.Event().(*events.ChatResponse); ok && c.Form != events.FormReasoning {
		r.turn.answered = true
	}
}

// settle places the waiting deltas: before the turn that begins, or else where they were read.
func (r *sideReader) settle(begins *sideTurn) {
	for _, g := range r.waiting {
		if begins != nil {
			g.turn, g.after, g.before = begins, -1, true
		}
	}
	r.waiting = nil
}

func (r *sideReader) delta(e *events.Element) error {
	d, _ := e.Event().(*events.ConfigDelta)
	c, err := r.configs.parse(d.Delta)
	if err != nil {
		return err
	}
	r.config = r.configs.join(r.config, c)
	if isSeam(e) {
		return nil
	}
	g := &sideGlobal{el: e, turn: r.turn, after: -1}
	r.addGlobal(g)
	r.waiting = append(r.waiting, g)
	return nil
}

// keyOf returns the key of a turn with the given events.
func keyOf(es []*events.Element) turnKey {
	first, q := es[0], firstRequest(es)
	switch {
	case q == nil:
		return turnKey{start: micros(first.Time()), request: noTime}
	case first.Kind() == events.KindTurnStart:
		return turnKey{start: micros(first.Time()), request: micros(q.Time())}
	default:
		return turnKey{start: micros(q.Time()), request: micros(q.Time())}
	}
}

// noTime sorts before all times.
const noTime = math.MinInt64

// micros returns the time as a number with the same order.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return noTime
	}
	return t.UnixMicro()
}

// firstRequest returns the first request of the user in a turn, or nil.
func firstRequest(es []*events.Element) *events.Element {
	for _, e := range es {
		if e.Kind() == events.KindChatRequest {
			return e
		}
	}
	return nil
}

// turnNotes holds the notes that merges wrote into a turn_start.
type turnNotes struct {
	record []string // the parents of the turn
	unset  []string // the keys that the turn ran without
}

// withoutNotes returns a turn_start without the notes that merges wrote into it, or nil if a merge
// created it, and the notes.
func withoutNotes(e *events.Element) (own *events.Element, notes turnNotes) {
	md := e.Metadata()
	if v, ok := md.Value(events.MetadataParent); ok {
		notes.record = jsonspan.Strings(v)
	}
	if v, ok := md.Value(events.MetadataUnset); ok {
		notes.unset = jsonspan.Strings(v)
	}
	if v, ok := md.Value(events.MetadataSeam); ok && string(v) == "true" {
		return nil, notes
	}
	return e.WithMetadata(md.Without(events.MetadataParent).Without(events.MetadataUnset)), notes
}

// isSeam reports whether a merge wrote the config_delta.
func isSeam(e *events.Element) bool {
	d, ok := e.Event().(*events.ConfigDelta)
	return ok && !d.Flattened && string(jsonspan.MemberOf(e.Raw(), events.MetadataSeam)) == "true"
}
