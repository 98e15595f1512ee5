package events

import (
	"time"

	"github.com/git-jp/git-jp/events/internal/jsonspan"
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

// MetadataUnset is the key of the settings that a turn ran without although a branch that was
// merged had made them before it: an array of JSON pointers.
const MetadataUnset = MetadataPrefix + "unset"

// NewSeam returns the config_delta with which a merge restores what a turn ran under.
func NewSeam(at time.Time, delta jsontext.Value) *Element {
	event := &ConfigDelta{Delta: delta}
	fs := append(elementFields(at, event, Metadata{}),
		jsonspan.Field{Name: MetadataSeam, Value: []byte("true")})
	return built(jsonspan.Indented(jsonspan.Object(fs), 1), at, event, Metadata{})
}

// NewTurnStart returns the turn_start that a merge gives a turn which has none.
func NewTurnStart(at time.Time) *Element {
	md := Metadata{}.With(MetadataSeam, jsontext.Value("true"))
	return newElement(at, &TurnStart{}, md)
}

// WithMember returns the element with a member that the codec does not know; nil removes
// it.
func (e *Element) WithMember(name string, value []byte) *Element {
	before := []jsonspan.Field{optionalJSON(name, jsonspan.MemberOf(e.raw, name))}
	raw := jsonspan.Splice(e.raw, before, []jsonspan.Field{optionalJSON(name, value)}, 1)
	if &raw[0] == &e.raw[0] {
		return e
	}
	return built(raw, e.time, e.event, e.meta)
}
