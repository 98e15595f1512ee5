package events

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events/internal/jsonspan"
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
	slots []slot // its contents
	view  view
	// largest is the size of the largest content, those included that the view left out.
	largest int64
	err     error        // why raw cannot be read; of a new element only
	depth   int          // how deep containers nest in raw, 0 where that is not known
	counted atomic.Int32 // one more than the containers in raw, 0 where that is not known
}

// A view says which parts of an event were taken from metadata, where the inline
// form keeps what jp would lose.
type view struct{ blocks, resources bool }

// A slot is a content of an element.
type slot struct {
	part    Part
	uri     string
	content blobs.Content
	legacy  bool
	offset  int // of its JSON in the element's bytes
}

// NewElement returns an element in canonical form. What the format does not have,
// such as metadata of a [ConfigDelta], is not written; what cannot be written, such
// as the zero time, text that is not UTF-8 and an Arguments that is not JSON, makes
// [Stream.Validate] fail.
func NewElement(at time.Time, ev Event, md Metadata) *Element {
	e := newElement(at, ev, md)
	if at.IsZero() {
		return e.broken(errNoTime)
	}
	return e
}

// newElement is NewElement with the time of another element, which may have none.
func newElement(at time.Time, ev Event, md Metadata) *Element {
	if d, ok := ev.(*ConfigDelta); ok && d.Flattened {
		ev = &ConfigDelta{Delta: d.Delta}
	}
	md.raw = md.encoded()
	raw := jsonspan.AppendObject(make([]byte, 0, 256), elementFields(at, ev, md), 1)
	return built(raw, at, ev, md)
}

// built returns an element of bytes that this package wrote. It reads them back,
// so that there is one way from bytes to contents.
func built(raw []byte, at time.Time, ev Event, md Metadata) *Element {
	unread := &Element{raw: raw, kind: ev.Kind(), time: at.UTC(), event: ev, meta: md}
	if md.err != nil {
		return unread.broken(md.err)
	}
	usual := jsonspan.IsUsual(raw)
	if !usual && !jsontext.Value(raw).IsValid() {
		return unread.broken(notJSON(raw))
	}
	ms, _, depth := jsonspan.MembersAt(raw, 0, make([]jsonspan.Member, 0, 8))
	if depth >= jpDepth {
		return unread.broken(ErrTooDeep)
	}
	if !usual {
		if err := numbers(raw); err != nil {
			return unread.broken(err)
		}
	}
	// Limits are the business of whoever saves, and known there.
	e, err := readElement(raw, &ms, DecodeOptions{MaxBlobBytes: -1})
	if err != nil {
		return unread.broken(err.err)
	}
	e.depth = depth
	return e
}

// isBroken reports whether [Stream.Validate] will refuse the element.
func (e *Element) isBroken() bool { return e.err != nil }

// broken returns the element as one that cannot be saved, for a reason.
func (e *Element) broken(reason error) *Element {
	return &Element{
		raw: e.raw, kind: e.kind, time: e.time, event: e.event, meta: e.meta, err: reason,
	}
}

// Kind returns the kind of the element's event.
func (e *Element) Kind() Kind { return e.kind }

// Time returns the element's timestamp in UTC, or the zero time when it has none
// that can be read.
func (e *Element) Time() time.Time { return e.time }

// Event returns what the element says. It is never nil and must not be changed.
func (e *Element) Event() Event { return e.event }

// Metadata returns the element's metadata; kinds that have none have the empty one.
func (e *Element) Metadata() Metadata { return e.meta }

// Raw returns the element's bytes as they stand in the file, which must not be
// changed.
func (e *Element) Raw() []byte { return e.raw }

// Err returns why the element cannot be written, nil for all that were read.
func (e *Element) Err() error { return e.err }

// With returns the element saying ev instead. Time, metadata and members that the
// codec does not know stay, and only members that differ are written anew.
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

// WithMetadata returns the element with md in place of its metadata.
func (e *Element) WithMetadata(md Metadata) *Element { return e.splice(e.time, e.event, md) }

// WithTime returns the element with another timestamp.
func (e *Element) WithTime(at time.Time) *Element { return e.splice(at, e.event, e.meta) }

func (e *Element) splice(at time.Time, ev Event, md Metadata) *Element {
	if ev == e.event && at.Equal(e.time) && md.same(e.meta) {
		return e
	}
	if _, unknown := ev.(*Unknown); unknown && !jsonspan.IsObject(e.raw) {
		return e // there is no place for anything in it
	}
	if !jsonspan.IsObject(e.raw) || e.isBroken() {
		return NewElement(at, ev, md)
	}
	var next *Element
	old, flattened := e.event.(*ConfigDelta)
	if flattened = flattened && old.Flattened; flattened && !sameDelta(old, ev) {
		// The settings are no members of the element any more.
		next = newElement(at, ev, md)
	} else {
		after := elementFields(at, ev, md)
		raw := jsonspan.Splice(e.raw, elementFields(e.time, e.event, e.meta), after, 1)
		if &raw[0] == &e.raw[0] && md.err == nil {
			return e
		}
		next = built(raw, at, ev, md)
	}
	// What was read without a time may stay so, but not become another thing.
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

// HasInline reports whether the element has contents that stand in the stream.
func (e *Element) HasInline() bool {
	return slices.ContainsFunc(e.slots, func(s slot) bool { return !s.content.IsRef() })
}
