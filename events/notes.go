package events

import (
	"time"

	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// Keys that a merge adds. In metadata of a turn_start, MetadataParent holds the keys of the turn
// that it follows and of that turn's missing ancestors. MetadataSeam marks a turn_start or, as a
// member, a config_delta that the merge itself wrote. A compaction's MetadataTurns names all turns
// that it was made for, if its range cannot.
const (
	MetadataParent = MetadataPrefix + "parent"
	MetadataSeam   = MetadataPrefix + "seam"
	MetadataTurns  = MetadataPrefix + "turns"
)

// MetadataUnset is the key of the settings that a turn ran without although a merged branch had
// made them before it: an array of JSON pointers.
const MetadataUnset = MetadataPrefix + "unset"

// NewSeam returns the config_delta with which a merge restores the settings that a turn ran with.
func NewSeam(at time.Time, delta jsontext.Value) *Element {
	event := &ConfigDelta{Delta: delta}
	fs := append(elementFields(at, event, Metadata{}),
		jsonspan.Field{Name: MetadataSeam, Value: []byte("true")})
	return built(jsonspan.Indented(jsonspan.Object(fs), 1), at, event, Metadata{})
}

// NewTurnStart returns the turn_start that a merge adds to a turn without one.
func NewTurnStart(at time.Time) *Element {
	md := Metadata{}.With(MetadataSeam, jsontext.Value("true"))
	return newElement(at, &TurnStart{}, md)
}

// WithMember returns the element with a member set that the codec does not know; a nil value
// removes it.
func (e *Element) WithMember(name string, value []byte) *Element {
	before := []jsonspan.Field{optionalJSON(name, jsonspan.MemberOf(e.raw, name))}
	raw := jsonspan.Splice(e.raw, before, []jsonspan.Field{optionalJSON(name, value)}, 1)
	if &raw[0] == &e.raw[0] {
		return e
	}
	return built(raw, e.time, e.event, e.meta)
}
