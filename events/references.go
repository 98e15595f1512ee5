package events

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// A RefAt is a reference found by [References].
type RefAt struct {
	Ref     blobs.Ref
	Element int
	Turn    int    // 0-based, as [Stream.TurnOf] counts
	Call    string // id of the tool call, "" in other events
	Tool    string // name of the called tool, "" when the request is not there
	Part    Part
	URI     string
	Offset  int64 // of the object, from the start of the file
	// Loose says that the object has the form of a reference but stands where this
	// version has no content, as in an element of an unknown kind or an annotation. A newer
	// one may have written it. Its size is -1 where none is given.
	Loose bool
}

// Counts reports whether content that is missing is a fault. An object that has a hash and no
// size is no reference of any version; a collector respects it all the same.
func (r RefAt) Counts() bool { return !r.Loose || r.Ref.Size >= 0 }

// ReferencesOptions chooses how [ReferencesWith] reads. The zero value is strict,
// with the default limits.
type ReferencesOptions struct {
	DecodeOptions
	// Duplicates allows duplicate names in an object and finds the references in
	// all of them, for files of old history that nobody can correct any more.
	Duplicates bool
	// Bare tells no turns, calls and tools, and is faster: elements without a reference are
	// not taken apart.
	Bare bool
}

// References returns the references of an events.json in order, without building a
// stream. For a stream that decodes, those that are not Loose are the references
// among its [Stream.Contents]. It refuses what is not one JSON array or has a
// malformed content, but not everything that Decode refuses. The error is a
// [*SyntaxError].
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
	f := finder{data: data, options: o.DecodeOptions, lenient: lenient, bare: o.Bare, turn: -1}
	f.found = make([]RefAt, 0, min(bytes.Count(data, []byte(blobMember)), usualReferences))
	if err := f.elements(); err != nil {
		return nil, err
	}
	if len(f.found) == 0 {
		return nil, nil
	}
	return f.found, nil
}

// References returns what [References] finds in what [Stream.Encode] returns, without reading that
// a second time.
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

// written looks at element n of a stream, which begins at the offset at.
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
		f.collect(where, e.raw, e.slots)
	}
}

// usualReferences is for how many there is room from the beginning.
const usualReferences = 64

const (
	blobMember = "$blob"
	escape     = `\u00`
)

// mayRefer is false when no "$blob" can be in v. Written with escapes, it has the
// form \u00xx for at least one of its characters.
func mayRefer(v []byte) bool {
	return bytes.Contains(v, []byte(blobMember)) || bytes.Contains(v, []byte(escape))
}

// A finder goes through the elements of a file.
type finder struct {
	data    []byte
	options DecodeOptions
	lenient bool
	bare    bool
	found   []RefAt
	turn    int
	tools   tools
	memory  []jsonspan.Member
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

// finishTurns gives what stands before the first turn to it, as TurnOf does.
func (f *finder) finishTurns() {
	for i := range f.found {
		if f.found[i].Turn < 0 && f.turn >= 0 {
			f.found[i].Turn = 0
		}
	}
}

// element looks at element n, which begins at data[at], and returns its end.
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
	raw, ms, _ := valueAt(f.data, at, f.memory[:0])
	f.memory = ms
	r := &reader{raw: raw, members: ms, options: f.options, memory: &f.memory}
	kind := kindOf(raw, ms)
	if kind == KindTurnStart || f.turn < 0 && kind.IsEvent() {
		f.turn++
	}
	f.complete(&where, r, kind)
	if !mayRefer(raw) {
		return at + len(raw), nil
	}
	if err := f.contents(r, kind); err != nil {
		offset := int64(at + err.offset)
		return 0, &SyntaxError{Element: n, Kind: kind, Offset: offset, Err: err.err}
	}
	f.collect(where, raw, r.slots)
	return at + len(raw), nil
}

// collect adds the references of an element that begins at where.Offset: those in its slots, and
// those beside them.
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

// complete adds to where what is known of every reference in an element.
func (f *finder) complete(where *RefAt, r *reader, kind Kind) {
	where.Turn = f.turn
	if f.bare {
		where.Turn = 0
		return
	}
	id, _ := r.string("id")
	switch kind {
	case KindToolCallRequest:
		name, _ := r.string("name")
		f.tools.request(f.turn, id, name)
	case KindToolCallResponse:
		where.Call, where.Tool = id, f.tools.response(f.turn, id)
	}
}

// contents reads the contents where the format has them. In a file with duplicate
// names there is no telling which counts, so there all references are loose.
func (f *finder) contents(r *reader, kind Kind) *placedError {
	var err *placedError
	switch m, ok := jsonspan.Find(r.members, "content"); {
	case f.lenient:
	case kind == KindToolCallResponse && ok && jsonspan.IsArray(m.Value(r.raw)):
		_, err = r.blockArray(m.At)
	case kind == KindChatRequest:
		_, err = r.resources()
	}
	return err
}

// loose adds the references in an element's bytes that are not among those that were found where
// the format has them.
func (f *finder) loose(where RefAt, raw []byte, known []slot) {
	if !mayReferBeside(raw, known) {
		return
	}
	at := make(map[int]bool, len(known))
	for _, k := range known {
		// The metadata that a legacy one is from may refer to something besides.
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

// mayReferBeside is mayRefer for what is not known: it is false where each "$blob" in v is
// that of a known reference. Each of those has one of its own, except those that are found
// inside a string.
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

// A looseReference is an object with a member "$blob" that is a hash.
type looseReference struct {
	ref blobs.Ref
	at  int
}

// looseReferences returns all objects of that form in v, at any depth, one for each
// "$blob" where there are several.
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

// see looks at a member with the given name, whose value begins at v[value].
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
