package events

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// An Element is one entry of a stream. It is immutable, may belong to several
// streams and may be used by several goroutines.
type Element struct {
	raw   []byte
	kind  Kind
	time  time.Time
	event Event
	meta  Metadata
	slots []slot // its content
	view  view
	// largest is the size of the largest piece of content, including any that the view left out.
	largest int64
	// unplaced says that the slots have no offsets, see [Element.placed].
	unplaced bool
	err      error        // why the element cannot be written; set only on new elements
	depth    int          // how deep containers nest in raw, 0 if unknown
	counted  atomic.Int32 // number of containers in raw plus one, 0 if unknown
}

// A view records which parts of an event were read from metadata, where the inline form keeps the
// parts that jp would lose.
type view struct{ blocks, resources bool }

// A slot is a piece of content of an element.
type slot struct {
	part    Part
	uri     string
	content blobs.Content
	legacy  bool
	offset  int // of its JSON in the element's bytes
}

// NewElement returns an element in canonical form. If it can be written, it keeps nothing of ev but
// the bytes of contents, see [blobs.Loaded]. Fields that the format does not have, such as metadata
// of a [ConfigDelta], are not written. Values that cannot be written, such as the zero time, text
// that is not UTF-8 or Arguments that are not JSON, make [Stream.Validate] fail.
func NewElement(at time.Time, ev Event, md Metadata) *Element {
	e := newElement(at, ev, md)
	if at.IsZero() {
		return e.broken(errNoTime)
	}
	return e
}

// newElement is NewElement with the time of another element, which may be zero.
func newElement(at time.Time, ev Event, md Metadata) *Element {
	if d, ok := ev.(*ConfigDelta); ok && d.Flattened {
		ev = &ConfigDelta{Delta: d.Delta}
	}
	md = md.encoded()
	room := rooms.Get().(*[]byte)
	defer rooms.Put(room)
	var fields [usualFields]jsonspan.Field
	fs := appendElement(fields[:0], at, ev, md)
	if last := len(fs) - 1; md.summed && fs[last].Name == "metadata" {
		*room = jsonspan.AppendObject((*room)[:0], fs[:last], 1)
		md = md.withSumOf(*room)
		*room = jsonspan.AppendMember(*room, md.field(), 1)
	} else {
		*room = jsonspan.AppendObject((*room)[:0], fs, 1)
	}
	raw := slices.Clone(*room)
	if cap(*room) > maxRoom {
		*room = nil
	}
	w := composed{raw[:len(raw):len(raw)], at, ev, md, writesUsual(ev, md)}
	if e := w.given(); e != nil {
		return e
	}
	return w.element()
}

// rooms holds buffers in which elements of unknown length are built.
var rooms = sync.Pool{New: func() any { return new([]byte) }}

// maxRoom is the capacity up to which a buffer is kept for further elements.
const maxRoom = 1 << 20

// A composed element has bytes that this package wrote.
type composed struct {
	raw   []byte
	at    time.Time
	event Event
	meta  Metadata
	usual bool // the bytes are known to be usual JSON
}

// built returns the element with bytes that this package wrote.
func built(raw []byte, at time.Time, ev Event, md Metadata) *Element {
	return composed{raw: raw, at: at, event: ev, meta: md}.element()
}

func (w composed) broken(reason error) *Element {
	return &Element{
		raw: w.raw, kind: w.event.Kind(), time: w.at.UTC(), event: w.event, meta: w.meta,
		err: reason,
	}
}

// element reads the bytes back, so that content is always found by the same code.
func (w composed) element() *Element {
	if w.meta.err != nil {
		return w.broken(w.meta.err)
	}
	w.usual = w.usual || jsonspan.IsUsual(w.raw)
	if !w.usual && !jsontext.Value(w.raw).IsValid() {
		return w.broken(notJSON(w.raw))
	}
	room := readings.Get().(*reading)
	defer readings.Put(room)
	ms, _, depth := jsonspan.MembersAt(w.raw, 0, room.memory[:0])
	room.memory = ms
	if depth >= jpDepth {
		return w.broken(ErrTooDeep)
	}
	if !w.usual {
		if err := numbers(w.raw); err != nil {
			return w.broken(err)
		}
	}
	e, err := readElement(w.raw, room)
	room.begin(nil) // which lets go of the element
	if err != nil {
		return w.broken(err.err)
	}
	e.depth = depth
	return e
}

// readings holds what elements are read with one after the other. The caller that saves an element
// knows the limits and checks them.
var readings = sync.Pool{New: func() any {
	return &reading{options: DecodeOptions{MaxBlobBytes: -1}}
}}

// isBroken reports whether [Stream.Validate] will refuse the element.
func (e *Element) isBroken() bool { return e.err != nil }

// broken returns a copy of the element that cannot be saved, for the given reason.
func (e *Element) broken(reason error) *Element {
	return &Element{
		raw: e.raw, kind: e.kind, time: e.time, event: e.event, meta: e.meta, err: reason,
	}
}

// Kind returns the kind of the element's event.
func (e *Element) Kind() Kind { return e.kind }

// Time returns the element's timestamp in UTC, or the zero time if it has no readable one.
func (e *Element) Time() time.Time { return e.time }

// Event returns the decoded event. It is never nil and must not be changed.
func (e *Element) Event() Event { return e.event }

// Metadata returns the element's metadata, which is empty for kinds that have none.
func (e *Element) Metadata() Metadata { return e.meta }

// Raw returns the element's bytes as they are in the file. They must not be changed.
func (e *Element) Raw() []byte { return e.raw }

// Err returns why the element cannot be written, or nil. It is nil for every element that was read.
func (e *Element) Err() error { return e.err }

// With returns the element with ev as its event. Time, metadata and unknown members are kept, and
// only members that differ are encoded again.
func (e *Element) With(ev Event) *Element {
	md := e.meta
	if e.view.blocks && !sameBlocks(e.event, ev) {
		md = md.Without(metadataBlocks)
	}
	if e.view.resources && !sameResources(e.event, ev) {
		md = md.Without(metadataResources)
	}
	return e.splice(e.time, ev, md)
}

// WithMetadata returns the element with its metadata replaced by md.
func (e *Element) WithMetadata(md Metadata) *Element { return e.splice(e.time, e.event, md) }

// WithTime returns the element with another timestamp.
func (e *Element) WithTime(at time.Time) *Element { return e.splice(at, e.event, e.meta) }

func (e *Element) splice(at time.Time, ev Event, md Metadata) *Element {
	if ev == e.event && at.Equal(e.time) && md.same(e.meta) {
		return e
	}
	if _, unknown := ev.(*Unknown); unknown && !jsonspan.IsObject(e.raw) {
		return e // it has no members to change
	}
	if !jsonspan.IsObject(e.raw) || e.isBroken() {
		return NewElement(at, ev, md)
	}
	var next *Element
	old, flattened := e.event.(*ConfigDelta)
	if flattened = flattened && old.Flattened; flattened && !sameDelta(old, ev) {
		// The settings are not members of the element any more.
		next = newElement(at, ev, md)
	} else {
		after := elementFields(at, ev, md)
		raw := jsonspan.Splice(e.raw, elementFields(e.time, e.event, e.meta), after, 1)
		if &raw[0] == &e.raw[0] && md.err == nil {
			return e
		}
		next = built(raw, at, ev, md)
	}
	// An element that was read without a time keeps none as long as its kind is the same.
	if at.IsZero() && (!e.time.IsZero() || ev.Kind() != e.kind) {
		return next.broken(errNoTime)
	}
	return next
}

func sameDelta(d *ConfigDelta, ev Event) bool {
	other, ok := ev.(*ConfigDelta)
	return ok && other.Flattened && sameJSON(d.Delta, other.Delta)
}

func sameBlocks(a, b Event) bool {
	x, okX := a.(*ToolCallResponse)
	y, okY := b.(*ToolCallResponse)
	return okX && okY && blocksSource(x.Blocks).Same(blocksSource(y.Blocks))
}

func sameResources(a, b Event) bool {
	x, okX := a.(*ChatRequest)
	y, okY := b.(*ChatRequest)
	return okX && okY && resourcesSource(x.Resources).Same(resourcesSource(y.Resources))
}

// HasInline reports whether the stream itself holds content of the element.
func (e *Element) HasInline() bool {
	return slices.ContainsFunc(e.slots, func(s slot) bool { return !s.content.IsRef() })
}
