package events

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/git-jp/git-jp/events/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// Keys of metadata that the codec gives a meaning. All of ours begin with
// MetadataPrefix.
const (
	MetadataPrefix    = "git_jp_"
	metadataBlocks    = MetadataPrefix + "blocks"    // see [Stream.Inline]
	metadataResources = MetadataPrefix + "resources" // see [Stream.Inline]
	metadataStripped  = MetadataPrefix + "stripped"  // see [Metadata.WithStripped]
)

// MetadataExtra is what a provider said beside what an event can hold, as a list of values in its
// own form: searches and programs that it ran itself, sources, citations, pictures.
const MetadataExtra = MetadataPrefix + "extra"

// Metadata is the "metadata" of an element: an ordered JSON object with any keys.
// The strings in it are base64 on disk, which its methods hide. It is immutable;
// the zero value is empty.
type Metadata struct {
	raw []byte // the object as it is on disk; nil for none
	err error  // why something that was to be in it is not
}

// same reports whether m and other are written alike, byte for byte.
func (m Metadata) same(other Metadata) bool {
	return m.err == nil && other.err == nil && bytes.Equal(m.raw, other.raw)
}

// Len returns the number of keys.
func (m Metadata) Len() int { return len(m.members()) }

// Keys returns the keys in order.
func (m Metadata) Keys() []string {
	var keys []string
	for _, mb := range m.members() {
		keys = append(keys, mb.Name)
	}
	return keys
}

// Value returns the value of key, the strings in it decoded once.
func (m Metadata) Value(key string) (jsontext.Value, bool) {
	mb, ok := jsonspan.Find(m.members(), key)
	if !ok {
		return nil, false
	}
	return decodeStrings(mb.Value(m.raw)), true
}

// Text returns the value of key when that is a string.
func (m Metadata) Text(key string) (string, bool) {
	v, ok := m.Value(key)
	if !ok || !jsonspan.IsString(v) {
		return "", false
	}
	return jsonspan.Text(v), true
}

// With returns m with key set to v, whose strings are not encoded. A new key comes
// last. What is no valid JSON, or a key that is not UTF-8, is not set, and makes
// [Stream.Validate] fail for every element that is given the metadata.
func (m Metadata) With(key string, v jsontext.Value) Metadata {
	if !utf8.ValidString(key) || !v.IsValid() {
		m.err = fmt.Errorf("metadata %s: %w", printable(key), notJSON(append([]byte(key), v...)))
		return m
	}
	return m.set(key, m.encode(v))
}

// WithText returns m with key set to the string s.
func (m Metadata) WithText(key, s string) Metadata {
	if m.imported() || !utf8.ValidString(key) || !utf8.ValidString(s) {
		return m.With(key, jsonspan.Quoted(s))
	}
	return m.set(key, appendBase64(nil, []byte(s)))
}

// set sets a value as it is on disk.
func (m Metadata) set(key string, encoded []byte) Metadata {
	if m.raw == nil {
		m.raw = jsonspan.AppendObject(nil, []jsonspan.Field{{Name: key, Value: encoded}}, 2)
		return m
	}
	l := m.layout()
	l.Set(key, encoded, func() int { return len(l.Members) })
	m.raw = l.Bytes(2)
	return m
}

// Without returns m without key.
func (m Metadata) Without(key string) Metadata {
	if _, ok := jsonspan.Find(m.members(), key); !ok {
		return m
	}
	l := m.layout()
	l.Remove(key)
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

// field returns the member, which is absent when there is nothing to write.
func (m Metadata) field() jsonspan.Field {
	if m.raw == nil || m.raw[jsonspan.SkipSpace(m.raw, 1)] == '}' {
		return jsonspan.Field{Name: "metadata"}
	}
	return jsonspan.Field{Name: "metadata", From: jsonSource(m.raw)}
}

// normal returns m decoded and without our own keys, which take no part in equality.
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
