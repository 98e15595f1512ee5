package events

import (
	"bytes"
	"slices"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/go-json-experiment/json/jsontext"
)

// Equal reports whether two elements say the same, in whatever form: contents are
// compared by hash and size and base64 is decoded; the order of members, the
// spelling of numbers and timestamps, white space, event_id and our own metadata do
// not count. What the inline form keeps in metadata counts as the blocks and
// resources that are read from it, and for nothing where none are.
func Equal(a, b *Element) bool {
	return a == b || bytes.Equal(a.raw, b.raw) || bytes.Equal(a.normal(), b.normal())
}

// Sum returns a hash that two elements share when they are [Equal], and only then.
func (e *Element) Sum() blobs.Hash { return blobs.Sum(e.normal()) }

// normal returns the one form that equal elements share.
func (e *Element) normal() []byte {
	if e.isBroken() || !isObject(e.raw) {
		return normalJSON(e.raw)
	}
	fs := e.normalFields()
	known := make([]string, len(fs))
	for i, f := range fs {
		known[i] = f.name
	}
	for _, m := range members(e.raw) {
		if m.name != "event_id" && !slices.Contains(known, m.name) {
			fs = append(fs, field{name: m.name, value: m.value(e.raw)})
		}
	}
	return normalJSON(object(fs))
}

// normalFields returns the members that the codec knows. One that is absent there
// although the element has it has been taken for nothing, as null is.
func (e *Element) normalFields() []field {
	fs := elementFields(e.time, normalEvent(e.event), Metadata{})
	if !e.time.IsZero() {
		setField(fs, "timestamp", quoted(e.time.Format(time.RFC3339Nano)))
	}
	setField(fs, "metadata", e.meta.normal())
	return slices.DeleteFunc(fs, func(f field) bool {
		// A second form of a response is lost when jp saves, but it is a difference.
		return f.absent() && f.name != "metadata" && !isNothing(memberOf(e.raw, f.name))
	})
}

// isNothing reports whether a member with the value v is as good as absent.
func isNothing(v jsontext.Value) bool {
	switch string(compact(v)) {
	case "", "null", `""`, "[]", "{}":
		return true
	default:
		return false
	}
}

// normalEvent returns ev with references in place of all contents.
func normalEvent(ev Event) Event {
	x := &exchange{swap: func(c blobs.Content) (blobs.Content, error) {
		if c.IsZero() {
			return c, nil
		}
		return blobs.Refer(c.Ref()), nil
	}}
	next, _ := x.event(ev) // nothing is read or written
	return next
}

// normalJSON returns v with sorted members and one spelling of numbers.
func normalJSON(v []byte) []byte {
	if !jsontext.Value(v).IsValid() {
		return v
	}
	plain := rewriter{number: normalNumber}.rewrite(v)
	// The value is valid, so there is no error.
	b, _ := jsontext.AppendFormat(nil, plain, jsontext.ReorderRawObjects(true))
	return b
}
