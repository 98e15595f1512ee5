package events

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// The functions of this file say what is written of an agent's session in another form than of any
// other conversation (docs/format.md, "Agent sessions"): Git packs its many small results and long
// arguments better where it can read them. An event is known by its own metadata, which a fork
// keeps, so that no save of a copy moves anything.

// maxInline is how long a content of an import may be that stays in the stream.
const maxInline = 8 << 10

// StaysInline reports whether a content of an import stays in the stream: a short text.
func StaysInline(content []byte) bool {
	return len(content) <= maxInline && utf8.Valid(content)
}

// imported reports whether the metadata is that of an event of an agent's session.
func (m Metadata) imported() bool {
	_, ok := jsonspan.Find(m.members(), MetadataSource)
	return ok
}

// toStore reports whether a content of an event with this metadata belongs into the store.
func (m Metadata) toStore(c blobs.Content) bool {
	return !c.IsZero() && !c.IsRef() && (!StaysInline(loadedBytes(c)) || !m.imported())
}

// encode returns v compact, with its strings as the event has them that m is of.
func (m Metadata) encode(v []byte) jsontext.Value {
	return m.appendEncoded(make([]byte, 0, len(v)+len(v)/4), v, jsonspan.Compacted)
}

// appendEncoded is encode at a depth.
func (m Metadata) appendEncoded(dst, v []byte, depth int) []byte {
	if !jsontext.Value(v).IsValid() {
		return append(dst, v...) // Validate reports it
	}
	inForm := appendBase64
	if m.imported() {
		inForm = appendPlain
	}
	return jsonspan.Rewriter{Text: func(dst, quoted []byte) []byte {
		return inForm(dst, jsonspan.Unquote(quoted))
	}}.Append(dst, v, depth)
}

// encoded returns the metadata as a new element has it.
func (m Metadata) encoded() []byte {
	if !m.imported() {
		return m.raw
	}
	return jsonspan.Rewriter{Text: func(dst, quoted []byte) []byte {
		s := jsonspan.Unquote(quoted)
		if plain, ok := decodeOnce(s); ok {
			s = plain
		}
		return appendPlain(dst, s)
	}}.Rewrite(m.raw)
}

// appendPlain appends s as a JSON string. In base64 are only what a reader would decode, and
// hashes, so that no object is taken for a reference.
func appendPlain(dst, s []byte) []byte {
	if _, decodes := decodeOnce(s); decodes || isHash(s) {
		return appendBase64(dst, s)
	}
	return jsonspan.Quote(dst, s)
}

// isHash reports whether s has the form of a blob's hash.
func isHash(s []byte) bool {
	if len(s) != 2*len(blobs.Hash{}) {
		return false // and no error with all of a long text in it
	}
	_, err := blobs.ParseHash(s)
	return err == nil
}

// RecordData returns the "data" of an agent's record with a content, which is the text itself
// where it stays in the stream.
func RecordData(c blobs.Content) jsontext.Value {
	if c.IsRef() {
		return encodeContent(c)
	}
	return jsonspan.Quoted(loadedBytes(c))
}

// RecordContent returns the content of an agent's record.
func RecordContent(e *Element) (blobs.Content, bool) {
	data := jsonspan.MemberOf(e.raw, recordData)
	if e.kind != KindAgentRecord {
		return blobs.Content{}, false
	}
	if jsonspan.IsString(data) {
		return blobs.Loaded(jsonspan.Bytes(data)), true
	}
	var ref struct {
		Hash blobs.Hash `json:"$blob"`
		Size int64      `json:"size"`
	}
	if json.Unmarshal(data, &ref) != nil || ref.Hash.IsZero() {
		return blobs.Content{}, false
	}
	return blobs.Refer(blobs.Ref{Hash: ref.Hash, Size: ref.Size}), true
}

// recordData is the member of an agent's record that has its content.
const recordData = "data"
