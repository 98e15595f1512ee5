package events

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"github.com/git-jp/git-jp/blobs"
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
	spots []spot // its contents
	view  view
	err   error // why raw cannot be read; of a new element only
}

// A view says which parts of an event were taken from metadata, where the inline
// form keeps what jp would lose.
type view struct{ blocks, resources bool }

// A spot is a content of an element.
type spot struct {
	part    Part
	uri     string
	content blobs.Content
	legacy  bool
	offset  int // of its JSON in the element's bytes
}

// NewElement returns an element in canonical form. What the format does not have,
// such as metadata of a [ConfigDelta], is not written; what cannot be written, such
// as an Arguments that is not JSON, makes [Stream.Validate] fail.
func NewElement(at time.Time, ev Event, md Metadata) *Element {
	if d, ok := ev.(*ConfigDelta); ok && d.Flattened {
		ev = &ConfigDelta{Delta: d.Delta}
	}
	raw := indented(object(elementFields(at, ev, md)), 1)
	return built(raw, at, ev, md)
}

// built returns an element of bytes that this package wrote. It reads them back,
// so that there is one way from bytes to contents.
func built(raw []byte, at time.Time, ev Event, md Metadata) *Element {
	broken := &Element{raw: raw, kind: ev.Kind(), time: at.UTC(), event: ev, meta: md}
	if !jsontext.Value(raw).IsValid() {
		broken.err = errors.New("an event holds something that is not JSON")
		return broken
	}
	var ms []member
	_, depth := measure(raw, 0)
	if isObject(raw) {
		ms = members(raw)
	}
	if depth >= jpDepth {
		broken.err = ErrTooDeep
		return broken
	}
	// Limits are the business of whoever saves, and known there.
	e, err := readElement(raw, ms, DecodeOptions{MaxBlobBytes: -1})
	if err != nil {
		broken.err = err.err
		return broken
	}
	return e
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

// With returns the element saying ev instead. Time, metadata and members that the
// codec does not know stay, and only members that differ are written anew.
func (e *Element) With(ev Event) *Element {
	md := e.meta
	if e.view.blocks && !sameBlocks(e.event, ev) {
		md = md.Without(MetadataBlocks)
	}
	if e.view.resources && !sameResources(e.event, ev) {
		md = md.Without(MetadataResources)
	}
	return e.splice(e.time, ev, md)
}

// WithMetadata returns the element with md in place of its metadata.
func (e *Element) WithMetadata(md Metadata) *Element { return e.splice(e.time, e.event, md) }

// WithTime returns the element with another timestamp.
func (e *Element) WithTime(at time.Time) *Element { return e.splice(at, e.event, e.meta) }

func (e *Element) splice(at time.Time, ev Event, md Metadata) *Element {
	if _, unknown := ev.(*Unknown); unknown && !isObject(e.raw) {
		return e // there is no place for anything in it
	}
	if !isObject(e.raw) || e.err != nil {
		return NewElement(at, ev, md)
	}
	old, flattened := e.event.(*ConfigDelta)
	if flattened = flattened && old.Flattened; flattened && !sameDelta(old, ev) {
		return NewElement(at, ev, md) // the settings are no members of the element any more
	}
	after := elementFields(at, ev, md)
	raw := splice(e.raw, elementFields(e.time, e.event, e.meta), after, 1)
	if &raw[0] == &e.raw[0] {
		return e
	}
	return built(raw, at, ev, md)
}

func sameDelta(d *ConfigDelta, ev Event) bool {
	other, ok := ev.(*ConfigDelta)
	return ok && other.Flattened && bytes.Equal(compact(d.Delta), compact(other.Delta))
}

func sameBlocks(a, b Event) bool {
	x, okX := a.(*ToolCallResponse)
	y, okY := b.(*ToolCallResponse)
	return okX && okY && bytes.Equal(encodeBlocks(x.Blocks), encodeBlocks(y.Blocks))
}

func sameResources(a, b Event) bool {
	x, okX := a.(*ChatRequest)
	y, okY := b.(*ChatRequest)
	return okX && okY && bytes.Equal(encodeResources(x.Resources), encodeResources(y.Resources))
}

// inline reports whether the element has contents that stand in the stream.
func (e *Element) inline(legacy bool) bool {
	return slices.ContainsFunc(e.spots, func(s spot) bool {
		return !s.content.IsRef() && (legacy || !s.legacy)
	})
}
