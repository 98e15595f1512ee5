package events

import (
	"math"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Keys of what a merge writes beside what the sides had. In metadata of a turn_start
// MetadataParent holds the keys of the turn that it follows and of that one's missing
// ancestors; MetadataSeam marks a turn_start, and as a member a config_delta, that is
// the merge's own, and a compaction's MetadataTurns names all turns that it was made
// for when its range cannot.
const (
	MetadataParent = MetadataPrefix + "parent"
	MetadataSeam   = MetadataPrefix + "seam"
	MetadataTurns  = MetadataPrefix + "turns"
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
	events []*Element // without what earlier merges added
	record []string   // the recorded parents, nil when there are none
	index  int        // as [Stream.Turns] counts
	config Config     // in force where it begins
	merged *mergeTurn

	anyConfig bool // what it ran under is not known
	answered  bool // it has a message of the assistant
}

// A sideGlobal is an element that is no event, with its place in one version.
type sideGlobal struct {
	el     *Element
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
	config  Config
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
		if e.isBroken() {
			return &SyntaxError{Element: i, Kind: e.kind, Offset: s.offset(i), Err: e.err}
		}
		if err := r.element(e); err != nil {
			return &SyntaxError{Element: i, Kind: e.kind, Offset: s.offset(i), Err: err}
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

func (r *sideReader) element(e *Element) error {
	switch kind := e.Kind(); {
	case kind == KindTurnStart:
		r.turnStart(e)
	case kind.IsEvent():
		r.event(e)
	case kind == KindConfigDelta:
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

func (r *sideReader) turnStart(e *Element) {
	r.index++
	own, notes := withoutNotes(e)
	r.open, r.fresh, r.record, r.unset = own == nil, true, notes.record, notes.unset
	if own != nil {
		r.begin()
		r.add(own)
	}
}

func (r *sideReader) event(e *Element) {
	if r.index < 0 {
		r.index = 0
	}
	another := r.open && e.Kind() == KindChatRequest && r.turn != nil && r.turn.answered
	if r.fresh || r.turn == nil || another {
		r.begin()
	}
	if r.add(e); e.Kind() == KindChatRequest && isRepair(r.turn.events) {
		r.open = true
	}
}

// isRepair reports whether a turn begins with a turn_start that was put there later.
func isRepair(events []*Element) bool {
	q := firstRequest(events)
	return q != nil && events[0].Kind() == KindTurnStart && events[0].Time().Equal(q.Time())
}

// begin opens a turn at the event that comes now.
func (r *sideReader) begin() {
	t := &sideTurn{record: r.record, index: r.index, config: r.configs.ran(r.config, r.unset)}
	r.fresh, r.record, r.unset = false, nil, nil
	r.settle(t)
	r.turn = t
	r.turns = append(r.turns, t)
}

func (r *sideReader) add(e *Element) {
	r.settle(nil)
	r.turn.events = append(r.turn.events, e)
	if c, ok := e.Event().(*ChatResponse); ok && c.Form != FormReasoning {
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

func (r *sideReader) delta(e *Element) error {
	d, _ := e.Event().(*ConfigDelta)
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
func keyOf(events []*Element) turnKey {
	first, q := events[0], firstRequest(events)
	switch {
	case q == nil:
		return turnKey{start: micros(first.Time()), request: noTime}
	case first.Kind() == KindTurnStart:
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
func firstRequest(events []*Element) *Element {
	for _, e := range events {
		if e.Kind() == KindChatRequest {
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
func withoutNotes(e *Element) (own *Element, notes turnNotes) {
	md := e.Metadata()
	if v, ok := md.Value(MetadataParent); ok {
		notes.record = stringsOf(v)
	}
	if v, ok := md.Value(MetadataUnset); ok {
		notes.unset = stringsOf(v)
	}
	if v, ok := md.Value(MetadataSeam); ok && string(v) == "true" {
		return nil, notes
	}
	return e.WithMetadata(md.Without(MetadataParent).Without(MetadataUnset)), notes
}

// stringsOf returns the strings of a JSON array.
func stringsOf(v jsontext.Value) []string {
	if !isArray(v) {
		return nil
	}
	var all []string
	for _, s := range elementsOf(v, 0) {
		if item := v[s.at:s.end]; isString(item) {
			all = append(all, text(item))
		}
	}
	return all
}

// isSeam reports whether a config_delta is a merge's own.
func isSeam(e *Element) bool {
	d, ok := e.Event().(*ConfigDelta)
	return ok && !d.Flattened && string(memberOf(e.raw, MetadataSeam)) == "true"
}
