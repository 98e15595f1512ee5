package events

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// A RefAt is a reference found by [References].
type RefAt struct {
	Ref     blobs.Ref
	Element int
	Turn    int    // 0-based, as in [Stream.TurnOf]
	Call    string // id of the tool call, "" in other events
	Tool    string // name of the called tool, "" if the request is missing
	Part    Part
	URI     string
	Offset  int64 // of the object, from the start of the file
	// Loose reports that the object looks like a reference but is in a place where this version has
	// no content, such as an element of an unknown kind or an annotation. A newer version may have
	// written it. Its size is -1 if it has none.
	Loose bool
}

// Counts reports whether it is a fault if the content is missing. An object with a hash and no size
// is not a reference of any version; garbage collection nevertheless keeps its content.
func (r RefAt) Counts() bool { return !r.Loose || r.Ref.Size >= 0 }

// ReferencesOptions selects how [ReferencesWith] reads. The zero value is strict, with the default
// limits.
type ReferencesOptions struct {
	DecodeOptions
	// Duplicates allows duplicate names in an object and finds the references in all of them. It is
	// for files in history, which cannot be corrected any more.
	Duplicates bool
	// Bare leaves out turns, calls and tools. It is faster, because elements without a reference
	// are not parsed.
	Bare bool
}

// References returns the references of an events.json in order, without building a stream. For a
// stream that decodes, those that are not Loose are the references among its [Stream.Contents]. It
// refuses data that is not one JSON array or has malformed content, but not everything that Decode
// refuses. The error is a [*SyntaxError].
func References(data []byte) ([]RefAt, error) {
	return ReferencesWith(data, ReferencesOptions{})
}

// ReferencesWith is [References] with options.
func ReferencesWith(data []byte, o ReferencesOptions) ([]RefAt, error) {
	err := validJSON(data, '[')
	lenient := o.Duplicates && errors.Is(err, jsontext.ErrDuplicateName)
	if lenient {
		err = validJSON(data, '[', jsontext.AllowDuplicateNames(true))
	}
	if err != nil {
		return nil, err
	}
	if !mayRefer(data) {
		return nil, nil
	}
	f := finder{data: data, lenient: lenient, bare: o.Bare, turn: -1}
	f.room.options = o.DecodeOptions
	f.found = make([]RefAt, 0, min(bytes.Count(data, []byte(blobMember)), usualReferences))
	if err := f.elements(); err != nil {
		return nil, err
	}
	if len(f.found) == 0 {
		return nil, nil
	}
	return f.found, nil
}

// References is like the function [References] on the encoded stream, but does not parse it again.
func (s *Stream) References() []RefAt {
	f := finder{turn: -1}
	at := len(s.open)
	for i, it := range s.items {
		at += len(it.before())
		f.written(i, at, it.el)
		at += len(it.el.raw) + len(it.trail) + 1
	}
	f.finishTurns()
	return f.found
}

// written collects the references of element n, which begins at offset at of the encoded stream.
func (f *finder) written(n, at int, e *Element) {
	if startsTurn(e, f.turn) {
		f.turn++
	}
	where := RefAt{Element: n, Turn: f.turn, Offset: int64(at)}
	where.Tool = f.tools.see(f.turn, e.event)
	if r, ok := e.event.(*ToolCallResponse); ok {
		where.Call = r.ID
	}
	if len(e.slots) > 0 || mayRefer(e.raw) {
		f.collect(where, e.raw, e.placed())
	}
}

// usualReferences bounds the initial capacity for references.
const usualReferences = 64

const (
	blobMember = "$blob"
	escape     = `\u00`
)

// mayRefer reports whether v may contain "$blob". If the word is written with escapes, at least one
// of its characters has the form \u00xx.
func mayRefer(v []byte) bool {
	return bytes.Contains(v, []byte(blobMember)) || bytes.Contains(v, []byte(escape))
}

// A finder visits the elements of a file and collects their references.
type finder struct {
	data    []byte
	room    reading
	lenient bool
	bare    bool
	found   []RefAt
	turn    int
	tools   tools
}

func (f *finder) elements() error {
	i := bytes.IndexByte(f.data, '[') + 1
	for n := 0; ; n++ {
		if i = jsonspan.SkipSpace(f.data, i); f.data[i] == ']' {
			f.finishTurns()
			return nil
		}
		end, err := f.element(n, i)
		if err != nil {
			return err
		}
		if i = jsonspan.SkipSpace(f.data, end); f.data[i] == ',' {
			i++
		}
	}
}

// finishTurns assigns references before the first turn to that turn, as TurnOf does.
func (f *finder) finishTurns() {
	for i := range f.found {
		if f.found[i].Turn < 0 && f.turn >= 0 {
			f.found[i].Turn = 0
		}
	}
}

// element visits element n, which begins at data[at], and returns its end.
func (f *finder) element(n, at int) (int, error) {
	where := RefAt{Element: n, Turn: f.turn, Offset: int64(at)}
	if f.data[at] != '{' {
		end := jsonspan.ValueEnd(f.data, at)
		f.loose(where, f.data[at:end], nil)
		return end, nil
	}
	if f.bare {
		if end := jsonspan.ValueEnd(f.data, at); !mayRefer(f.data[at:end]) {
			return end, nil
		}
	}
	raw, ms, _ := valueAt(f.data, at, f.room.memory[:0])
	f.room.memory = ms
	f.room.begin(nil)
	r := &reader{raw, ms, &f.room}
	kind := kindOf(raw, ms)
	if kind == KindTurnStart || f.turn < 0 && kind.IsEvent() {
		f.turn++
	}
	f.complete(&where, r, kind)
	if !mayRefer(raw) {
		return at + len(raw), nil
	}
	if f.contents(r, kind); r.err != nil {
		offset := int64(at + r.err.offset)
		return 0, &SyntaxError{Element: n, Kind: kind, Offset: offset, Err: r.err.err}
	}
	f.collect(where, raw, r.slots)
	return at + len(raw), nil
}

// collect adds the references of an element that begins at where.Offset: those in its slots, and
// loose ones.
func (f *finder) collect(where RefAt, raw []byte, slots []slot) {
	for _, s := range slots {
		if s.content.IsRef() {
			ref := where
			ref.Ref, ref.Part, ref.URI = s.content.Ref(), s.part, s.uri
			ref.Offset += int64(s.offset)
			f.found = append(f.found, ref)
		}
	}
	f.loose(where, raw, slots)
}

// complete adds to where the turn, call and tool of the element.
func (f *finder) complete(where *RefAt, r *reader, kind Kind) {
	where.Turn = f.turn
	if f.bare {
		where.Turn = 0
		return
	}
	id, _ := r.maybe("id")
	switch kind {
	case KindToolCallRequest:
		name, _ := r.maybe("name")
		f.tools.request(f.turn, id, name)
	case KindToolCallResponse:
		where.Call, where.Tool = id, f.tools.response(f.turn, id)
	}
}

// contents reads content in the places that the format defines. In a file with duplicate names it
// is ambiguous which member counts, so all its references are loose.
func (f *finder) contents(r *reader, kind Kind) {
	switch m, ok := jsonspan.Find(r.members, "content"); {
	case f.lenient:
	case kind == KindToolCallResponse && ok && jsonspan.IsArray(m.Value(r.raw)):
		r.blockArray(m.At)
	case kind == KindChatRequest:
		r.resources()
	}
}

// loose adds the references in an element's bytes that are not among known, the slots that the
// format defines.
func (f *finder) loose(where RefAt, raw []byte, known []slot) {
	if !mayReferBeside(raw, known) {
		return
	}
	at := make(map[int]bool, len(known))
	for _, k := range known {
		// For legacy content at is the metadata's offset, which may hold other references too.
		at[k.offset] = at[k.offset] || !k.legacy
	}
	begin := where.Offset
	for _, l := range looseReferences(raw) {
		if !at[l.at] {
			where.Ref, where.Offset, where.Loose = l.ref, begin+int64(l.at), true
			f.found = append(f.found, where)
		}
	}
}

// mayReferBeside is mayRefer for references that are not known: it returns false if each "$blob" in
// v belongs to a known reference. Legacy ones do not count, because they are inside a string.
func mayReferBeside(v []byte, known []slot) bool {
	if bytes.Contains(v, []byte(escape)) {
		return true
	}
	refs := 0
	for _, k := range known {
		if k.content.IsRef() && !k.legacy {
			refs++
		}
	}
	return bytes.Count(v, []byte(blobMember)) > refs
}

// A looseReference is an object with a member "$blob" whose value is a hash.
type looseReference struct {
	ref blobs.Ref
	at  int
}

// looseReferences returns all such objects in v, at any depth. An object with several "$blob"
// members is returned once for each.
func looseReferences(v []byte) []looseReference {
	var found []looseReference
	var open []frame
	for i := 0; i < len(v); {
		switch c := v[i]; c {
		case '{', '[':
			open = append(open, frame{at: i, size: -1})
			i++
		case '}', ']':
			top := open[len(open)-1]
			open = open[:len(open)-1]
			for _, h := range top.hashes {
				found = append(found, looseReference{blobs.Ref{Hash: h, Size: top.size}, top.at})
			}
			i++
		case '"':
			end := jsonspan.StringEnd(v, i)
			next := jsonspan.SkipSpace(v, end)
			if next < len(v) && v[next] == ':' {
				name := jsonspan.Span{At: i, End: end}
				open[len(open)-1].see(v, name, jsonspan.SkipSpace(v, next+1))
			}
			i = end
		default:
			i++
		}
	}
	return found
}

// A frame is a container that is not closed yet.
type frame struct {
	at     int
	hashes []blobs.Hash
	size   int64
}

// see notes a member if it is a hash or a size. The value begins at v[value].
func (f *frame) see(v []byte, name jsonspan.Span, value int) {
	if name.End-name.At > len(`"\u0000\u0000\u0000\u0000\u0000"`) {
		return
	}
	switch jsonspan.MemberName(v[name.At:name.End]) {
	case "$blob":
		if v[value] != '"' {
			return
		}
		text := jsonspan.Text(v[value:jsonspan.StringEnd(v, value)])
		if h, err := blobs.ParseHash(text); err == nil {
			f.hashes = append(f.hashes, h)
		}
	case "size":
		digits := string(v[value:jsonspan.ValueEnd(v, value)])
		if n, err := strconv.ParseUint(digits, 10, 63); err == nil {
			f.size = int64(n)
		}
	}
}
