package threeway

import (
	"math"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/internal/jsonspan"
	"github.com/git-jp/git-jp/events/settings"
)

// A turnKey is what a turn is known by in all versions: when it began and when its
// first request was made, in microseconds. Putting a turn_start before the first
// request, as jp does when it repairs, keeps it.
type turnKey struct{ start, request int64 }

func (k turnKey) compare(l turnKey) int {
	switch {
	case k == l:
		return 0
	case k.start < l.start, k.start == l.start && k.request < l.request:
		return -1
	default:
		return 1
	}
}

// A sideTurn is a turn as one version has it. In what stands before the first
// turn_start a request that follows an answer begins another turn, so that streams
// without any turn_start do not count as one turn. So it is behind a turn_start that
// repairing put there, which has the time of the request that it stands before.
type sideTurn struct {
	key    turnKey
	events []*events.Element // without what earlier merges added
	record []string          // the recorded parents, nil when there are none
	index  int               // as [Stream.Turns] counts
	config settings.Config   // in force where it begins
	merged *mergeTurn

	anyConfig bool // what it ran under is not known
	answered  bool // it has a message of the assistant
}

// A sideGlobal is an element that is no event, with its place in one version.
type sideGlobal struct {
	el     *events.Element
	turn   *sideTurn // nil: at the very beginning, or with before at the very end
	after  int       // which event of turn it stands behind
	before bool      // it stands before turn; so stand the deltas between two turns
}

// A sideStream is one version, taken apart.
type sideStream struct {
	turns   []*sideTurn
	globals []*sideGlobal
}

// A sideReader takes a stream apart.
type sideReader struct {
	sideStream
	configs *configCache
	config  settings.Config
	turn    *sideTurn // nil before the first
	index   int
	open    bool          // no turn_start of the stream's own came yet: see sideTurn
	fresh   bool          // the next event begins a turn
	record  []string      // its recorded parents
	unset   []string      // the keys that it ran without
	waiting []*sideGlobal // deltas that do not know yet what they stand before
}

// read takes a version apart.
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

// isRepair reports whether a turn begins with a turn_start that was put there later.
func isRepair(es []*events.Element) bool {
	q := firstRequest(es)
	return q != nil && es[0].Kind() == events.KindTurnStart && es[0].Time().Equal(q.Time())
}

// begin opens a turn at the event that comes now.
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

// settle says where the waiting deltas stand: before a turn that begins, or else
// where they were read.
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

// keyOf returns the key of a turn with these events.
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

// micros returns the time as a number that sorts as times do.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return noTime
	}
	return t.UnixMicro()
}

// firstRequest returns the first request of the user in a turn, nil for none.
func firstRequest(es []*events.Element) *events.Element {
	for _, e := range es {
		if e.Kind() == events.KindChatRequest {
			return e
		}
	}
	return nil
}

// turnNotes are what merges wrote into a turn_start.
type turnNotes struct {
	record []string // the parents of the turn
	unset  []string // the keys that it ran without
}

// withoutNotes returns a turn_start as it was before merges wrote into it, nil when
// one made it, and what they wrote.
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

// isSeam reports whether a config_delta is a merge's own.
func isSeam(e *events.Element) bool {
	d, ok := e.Event().(*events.ConfigDelta)
	return ok && !d.Flattened && string(jsonspan.MemberOf(e.Raw(), events.MetadataSeam)) == "true"
}
