package events

import (
	"bytes"
	"slices"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events/internal/jsonspan"
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
	if e.isBroken() || !jsonspan.IsObject(e.raw) {
		return jsonspan.Normal(e.raw)
	}
	fs := e.normalFields()
	known := make([]string, len(fs))
	for i, f := range fs {
		known[i] = f.Name
	}
	for _, m := range jsonspan.Members(e.raw) {
		if m.Name != "event_id" && !slices.Contains(known, m.Name) {
			fs = append(fs, jsonspan.Field{Name: m.Name, Value: e.normalMember(m)})
		}
	}
	return jsonspan.Normal(jsonspan.Object(fs))
}

// normalMember returns a member that the codec does not know. The content of a record is a
// reference there, as all contents are.
func (e *Element) normalMember(m jsonspan.Member) []byte {
	if c, ok := RecordContent(e); ok && m.Name == recordData {
		return encodeContent(blobs.Refer(c.Ref()))
	}
	return m.Value(e.raw)
}

// normalFields returns the members that the codec knows. One that is absent there
// although the element has it has been taken for nothing, as null is.
func (e *Element) normalFields() []jsonspan.Field {
	fs := elementFields(e.time, normalEvent(e.event), Metadata{})
	if !e.time.IsZero() {
		jsonspan.SetField(fs, "timestamp", jsonspan.Quoted(e.time.Format(time.RFC3339Nano)))
	}
	jsonspan.SetField(fs, "metadata", e.meta.normal())
	return slices.DeleteFunc(fs, func(f jsonspan.Field) bool {
		// A second form of a response is lost when jp saves, but it is a difference.
		return f.Absent() && f.Name != "metadata" && !isNothing(jsonspan.MemberOf(e.raw, f.Name))
	})
}

// isNothing reports whether a member with the value v is as good as absent.
func isNothing(v jsontext.Value) bool {
	switch string(jsonspan.Compact(v)) {
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
