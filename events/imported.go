package events

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// The functions of this file define how agent sessions are written differently from other
// conversations (docs/format.md, "Agent sessions"): Git packs their many small results and long
// arguments better if they are plain text. An event is recognized by its own metadata, which a fork
// keeps, so saving a copy does not move content.

// maxInline is the maximal size of imported content that stays in the stream.
const maxInline = 8 << 10

// StaysInline reports whether imported content stays in the stream: text of at most maxInline
// bytes.
func StaysInline(content []byte) bool {
	return len(content) <= maxInline && utf8.Valid(content)
}

// imported reports whether m is the metadata of an event of an agent session.
func (m Metadata) imported() bool {
	_, ok := m.find(MetadataSource)
	return ok
}

// toStore reports whether content of an event with this metadata belongs in the store.
func (m Metadata) toStore(c blobs.Content) bool {
	return !c.IsZero() && !c.IsRef() && (!StaysInline(loadedBytes(c)) || !m.imported())
}

// encode returns v compacted, with its strings encoded as in an event with metadata m.
func (m Metadata) encode(v []byte) jsontext.Value {
	return m.appendEncoded(make([]byte, 0, len(v)+len(v)/4), v, jsonspan.Compacted)
}

// appendEncoded is encode, indented for a depth.
func (m Metadata) appendEncoded(dst, v []byte, depth int) []byte {
	if !jsonspan.IsValid(v) {
		return append(dst, v...) // Validate reports it
	}
	inForm := appendBase64
	if m.plain || m.imported() {
		inForm = appendPlain
	}
	return jsonspan.Rewriter{Text: func(dst, quoted []byte) []byte {
		return inForm(dst, jsonspan.Unquote(quoted))
	}}.Append(dst, v, depth)
}

// encoded returns the metadata as a new element holds it.
func (m Metadata) encoded() Metadata {
	switch isImported := m.imported(); {
	case isImported && !m.plain:
		return m.AsImported()
	case m.plain && !isImported: // it got no source
		m.plain = false
		return m.recoded(appendBase64)
	}
	return m
}

// AsImported returns the metadata in the form of an event of an agent session. Metadata has that
// form when it gets its source; in it from the start, other keys need not be written again.
func (m Metadata) AsImported() Metadata {
	if m.plain {
		return m
	}
	m.plain = true
	return m.recoded(appendPlain)
}

// recoded returns the metadata with its strings in another form.
func (m Metadata) recoded(inForm func(dst, s []byte) []byte) Metadata {
	if m.raw != nil {
		m.raw = jsonspan.Rewriter{Text: func(dst, quoted []byte) []byte {
			return inForm(dst, decoded(jsonspan.Unquote(quoted)))
		}}.Rewrite(m.raw)
	}
	return m
}

// appendPlain appends s as a JSON string. It uses base64 only for strings that a reader would
// otherwise decode, and for hashes, so that no object is mistaken for a reference.
func appendPlain(dst, s []byte) []byte {
	if decodes(s) || isHash(s) {
		return appendBase64(dst, s)
	}
	return jsonspan.Quote(dst, s)
}

// isHash reports whether s has the form of a blob's hash.
func isHash(s []byte) bool {
	if len(s) != 2*len(blobs.Hash{}) {
		return false // ParseHash would put the whole of a long text in its error
	}
	_, err := blobs.ParseHash(s)
	return err == nil
}

// RecordData returns the "data" member of an agent record with content c: a reference, or the text
// itself if it stays in the stream.
func RecordData(c blobs.Content) jsontext.Value {
	if c.IsRef() {
		return encodeContent(c)
	}
	return jsonspan.Quoted(loadedBytes(c))
}

// RecordContent returns the content of an agent record.
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

// recordData is the member of an agent record that holds its content.
const recordData = "data"
