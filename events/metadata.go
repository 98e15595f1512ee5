package events

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/go-json-experiment/json/jsontext"
)

// Metadata keys that the codec interprets. All keys of git-jp begin with MetadataPrefix.
const (
	MetadataPrefix    = "git_jp_"
	metadataBlocks    = MetadataPrefix + "blocks"    // see [Stream.Inline]
	metadataResources = MetadataPrefix + "resources" // see [Stream.Inline]
	metadataStripped  = MetadataPrefix + "stripped"  // see [Metadata.WithStripped]
)

// MetadataExtra is the key of provider output that an event cannot hold, as a list of values in the
// provider's own form: searches and programs that it ran itself, sources, citations, images.
const MetadataExtra = MetadataPrefix + "extra"

// MetadataCompacted is the key under which the first event of a compacted conversation keeps how to
// estimate its prompt: usage from before the compaction is for another text.
const MetadataCompacted = MetadataPrefix + "compacted"

// Metadata is the "metadata" of an element: an ordered JSON object with any keys. On disk its
// strings are base64; the methods decode and encode them. It is immutable, and the zero value is
// empty.
type Metadata struct {
	raw []byte // the object as on disk, or nil
	err error  // why a value could not be stored in it
	// plain is set if it was encoded for an imported event. It belongs to one once it has a source.
	plain bool
	// summed is set if an element gets a sum, see WithSum.
	summed bool
}

// same reports whether m and other are written alike, byte for byte.
func (m Metadata) same(other Metadata) bool {
	return m.err == nil && other.err == nil && bytes.Equal(m.raw, other.raw)
}

// Len returns the number of keys.
func (m Metadata) Len() int { return len(m.members()) }

// Keys returns the keys in order.
func (m Metadata) Keys() []string {
	return lists.Map(m.members(), func(mb jsonspan.Member) string { return mb.Name })
}

// Value returns the value of key, with its strings decoded once.
func (m Metadata) Value(key string) (jsontext.Value, bool) {
	v, ok := m.find(key)
	if !ok {
		return nil, false
	}
	return decodeStrings(v), true
}

// find returns the value of key as encoded on disk.
func (m Metadata) find(key string) ([]byte, bool) {
	if m.raw == nil {
		return nil, false
	}
	return jsonspan.FindIn(m.raw, key)
}

// Text returns the value of key if it is a string.
func (m Metadata) Text(key string) (string, bool) {
	v, ok := m.find(key)
	if !ok || !jsonspan.IsString(v) {
		return "", false
	}
	return string(decoded(jsonspan.Unquote(v))), true
}

// JSON decodes the value of key into *v, as [json.Unmarshal] does. It returns false if there is no
// value, or one of another type.
func (m Metadata) JSON(key string, v any) bool {
	value, ok := m.Value(key)
	return ok && json.Unmarshal(value, v) == nil
}

// WithJSON returns m with key set to the JSON of v, or m if v has none, as a time out of range.
func (m Metadata) WithJSON(key string, v any) Metadata {
	value, err := json.Marshal(v)
	if err != nil {
		return m
	}
	return m.With(key, value)
}

// With returns m with key set to v, whose strings are not encoded. A new key comes last. An invalid
// JSON value, or a key that is not UTF-8, is not set and makes [Stream.Validate] fail for every
// element with this metadata.
func (m Metadata) With(key string, v jsontext.Value) Metadata {
	if !utf8.ValidString(key) || !jsonspan.IsValid(v) {
		m.err = fmt.Errorf("metadata %s: %w", printable(key), notJSON(append([]byte(key), v...)))
		return m
	}
	return m.set(key, m.encode(v))
}

// WithText returns m with key set to the string s.
func (m Metadata) WithText(key, s string) Metadata {
	if !utf8.ValidString(key) || !utf8.ValidString(s) {
		return m.With(key, jsonspan.Quoted(s))
	}
	if key == MetadataSource { // later keys are written in the plain encoding too
		if m = m.AsImported(); m.raw == nil {
			m.raw = append(appendPlain([]byte(`{"`+MetadataSource+`":`), []byte(s)), '}')
			return m
		}
		return m.set(key, appendPlain(nil, []byte(s)))
	}
	if m.plain || m.imported() {
		return m.set(key, appendPlain(nil, []byte(s)))
	}
	return m.set(key, appendBase64(nil, []byte(s)))
}

// set sets key to a value in its on-disk form.
func (m Metadata) set(key string, encoded []byte) Metadata {
	if m.raw == nil {
		m.raw = jsonspan.AppendObject(nil, []jsonspan.Field{{Name: key, Value: encoded}}, 2)
		return m
	}
	if _, ok := m.find(key); !ok && m.raw[jsonspan.SkipSpace(m.raw, 1)] != '}' {
		m.raw = jsonspan.WithLast(m.raw, key, encoded)
		return m
	}
	l := m.layout()
	l.Set(key, encoded, func() int { return len(l.Members) })
	m.raw = l.Bytes(2)
	return m
}

// Without returns m without key.
func (m Metadata) Without(key string) Metadata {
	if _, ok := m.find(key); !ok {
		return m
	}
	l := m.layout()
	l.Remove(key)
	m.plain = false // the removed key may be the one that marks an imported event
	if m.raw = nil; len(l.Members) > 0 {
		m.raw = l.Bytes(2)
	}
	return m
}

func (m Metadata) members() []jsonspan.Member {
	if m.raw == nil {
		return nil
	}
	return jsonspan.Members(m.raw)
}

func (m Metadata) layout() *jsonspan.Layout {
	if m.raw == nil {
		return jsonspan.ParseLayout([]byte("{}"))
	}
	return jsonspan.ParseLayout(m.raw)
}

// field returns the "metadata" member, which is absent if there is nothing to write.
func (m Metadata) field() jsonspan.Field {
	if m.raw == nil || m.raw[jsonspan.SkipSpace(m.raw, 1)] == '}' {
		return jsonspan.Field{Name: "metadata"}
	}
	return jsonspan.Field{Name: "metadata", From: jsonSource(m.raw)}
}

// normal returns m decoded and without git-jp's own keys, which do not affect equality.
func (m Metadata) normal() []byte {
	var fs []jsonspan.Field
	for _, mb := range m.members() {
		if !strings.HasPrefix(mb.Name, MetadataPrefix) {
			fs = append(fs, jsonspan.Field{Name: mb.Name, Value: decodeStrings(mb.Value(m.raw))})
		}
	}
	if fs == nil {
		return nil
	}
	return jsonspan.Object(fs)
}
