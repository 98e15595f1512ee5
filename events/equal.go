package events

import (
	"bytes"
	"slices"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/go-json-experiment/json/jsontext"
)

// Equal reports whether two elements mean the same, in whatever form. Content is compared by hash
// and size, and base64 is decoded. The order of members, the spelling of numbers and timestamps,
// white space, event_id and git-jp's own metadata do not count. Metadata of the inline form counts
// as the blocks and resources that are read from it, and is ignored if there are none.
func Equal(a, b *Element) bool {
	return a == b || bytes.Equal(a.raw, b.raw) || bytes.Equal(a.normal(), b.normal())
}

// Sum returns a hash that two elements share if and only if they are [Equal].
func (e *Element) Sum() blobs.Hash { return blobs.Sum(e.normal()) }

// normal returns the one form that all equal elements share.
func (e *Element) normal() []byte {
	if e.isBroken() || !jsonspan.IsObject(e.raw) {
		return jsonspan.Normal(e.raw)
	}
	fs := e.normalFields()
	known := lists.Map(fs, func(f jsonspan.Field) string { return f.Name })
	for _, m := range jsonspan.Members(e.raw) {
		if m.Name != "event_id" && !slices.Contains(known, m.Name) {
			fs = append(fs, jsonspan.Field{Name: m.Name, Value: e.normalMember(m)})
		}
	}
	return jsonspan.Normal(jsonspan.Object(fs))
}

// normalMember returns the value of a member that the codec does not know. Content of an agent
// record becomes a reference, as all content does.
func (e *Element) normalMember(m jsonspan.Member) []byte {
	if c, ok := RecordContent(e); ok && m.Name == recordData {
		return encodeContent(blobs.Refer(c.Ref()))
	}
	return m.Value(e.raw)
}

// normalFields returns the members that the codec knows. It leaves out members without a meaning,
// such as a null that was read as absent.
func (e *Element) normalFields() []jsonspan.Field {
	fs := elementFields(e.time, normalEvent(e.event), Metadata{})
	if !e.time.IsZero() {
		jsonspan.SetField(fs, "timestamp", jsonspan.Quoted(e.time.Format(time.RFC3339Nano)))
	}
	jsonspan.SetField(fs, "metadata", e.meta.normal())
	return slices.DeleteFunc(fs, func(f jsonspan.Field) bool {
		// jp loses a second form of a response when it saves, but it is a difference.
		return f.Absent() && f.Name != "metadata" && !isNothing(jsonspan.MemberOf(e.raw, f.Name))
	})
}

// isNothing reports whether a member with the value v is equivalent to an absent one.
func isNothing(v jsontext.Value) bool {
	switch string(jsonspan.Compact(v)) {
	case "", "null", `""`, "[]", "{}":
		return true
	default:
		return false
	}
}

// normalEvent returns ev with all content replaced by references.
func normalEvent(ev Event) Event {
	x := &exchange{swap: func(c blobs.Content) (blobs.Content, error) {
		if c.IsZero() {
			return c, nil
		}
		return blobs.Refer(c.Ref()), nil
	}}
	next, _ := x.event(ev) // cannot fail: nothing is read or written
	return next
}
