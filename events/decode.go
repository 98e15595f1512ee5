package events

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// DecodeOptions limits the streams that are read. The zero value has the default limits.
type DecodeOptions struct {
	// MaxBlobBytes bounds the size of each piece of content, see [blobs.DefaultMaxBlobBytes]. A
	// negative value means no limit.
	MaxBlobBytes int64
}

// check returns an error if size is over the limit.
func (o DecodeOptions) check(size int64) error {
	if o.MaxBlobBytes < 0 {
		return nil
	}
	return blobs.Limits{MaxBlobBytes: o.MaxBlobBytes}.Check(size)
}

// Decode reads an events.json. It keeps data, which must not be changed afterwards. It reads no
// blob. On error, which is a [*SyntaxError], it returns no stream.
func Decode(data []byte) (*Stream, error) { return DecodeWith(data, DecodeOptions{}) }

// DecodeWith is [Decode] with the limits of o.
func DecodeWith(data []byte, o DecodeOptions) (*Stream, error) {
	if err := validJSON(data, '['); err != nil {
		return nil, err
	}
	s := &Stream{array: newArray(nil)}
	i := bytes.IndexByte(data, '[') + 1
	s.open = data[:i:i]
	room := reading{options: o, memory: make([]jsonspan.Member, 0, usualMembers)}
	for from := i; ; {
		at := jsonspan.SkipSpace(data, from)
		if data[at] == ']' {
			s.close = data[from:]
			return s, nil
		}
		e, err := elementAt(data, at, &room)
		if err != nil {
			err.Element = len(s.items)
			return nil, err
		}
		it := item{el: e, lead: data[from:at:at]}
		end := at + len(e.raw)
		next := jsonspan.SkipSpace(data, end)
		if data[next] == ']' {
			s.items, s.close = append(s.items, it), data[end:]
			return s, nil
		}
		it.trail = data[end:next:next]
		s.items, from = append(s.items, it), next+1
	}
}

// usualMembers is the initial capacity for the members of an element and of the objects in it.
const usualMembers = 16

// elementAt reads the element that begins at data[at].
func elementAt(data []byte, at int, room *reading) (*Element, *SyntaxError) {
	raw, ms, depth := valueAt(data, at, room.memory[:0])
	if depth >= MaxDepth {
		return nil, &SyntaxError{Kind: kindOf(raw, ms), Offset: int64(at), Err: ErrTooDeep}
	}
	room.memory = ms
	e, err := readElement(raw, room)
	if err != nil {
		return nil, &SyntaxError{
			Kind: kindOf(raw, ms), Offset: int64(at + err.offset), Err: err.err,
		}
	}
	e.depth = depth
	return e, nil
}

// valueAt returns the value that begins at data[at], its members if it is an object, and how deep
// containers nest. The members are appended to ms.
func valueAt(data []byte, at int, ms []jsonspan.Member) (
	raw []byte, _ []jsonspan.Member, depth int,
) {
	var end int
	if data[at] == '{' {
		ms, end, depth = jsonspan.MembersAt(data, at, ms)
	} else {
		end, depth = jsonspan.Measure(data, at)
	}
	for i := range ms {
		ms[i].Start, ms[i].At, ms[i].End = ms[i].Start-at, ms[i].At-at, ms[i].End-at
	}
	return data[at:end:end], ms, depth
}

// kindOf returns the kind in an element's "type" member, or "" if it has none.
func kindOf(raw []byte, ms []jsonspan.Member) Kind {
	m, ok := jsonspan.Find(ms, "type")
	if !ok || !jsonspan.IsString(m.Value(raw)) {
		return ""
	}
	return kindNamed(jsonspan.Unquote(m.Value(raw)))
}

// kindNamed returns Kind(s) without allocating for the known kinds: comparing needs no string, and
// the result is a constant.
func kindNamed(s []byte) Kind {
	for _, k := range [...]Kind{
		KindTurnStart, KindChatRequest, KindChatResponse, KindToolCallRequest,
		KindToolCallResponse, KindInquiryRequest, KindInquiryResponse,
		KindConfigDelta, KindCompaction,
	} {
		if string(s) == string(k) {
			return k
		}
	}
	return Kind(s)
}

// CheckObject reports why data is not one JSON object that can be read, or nil if it is: within the
// limits, in valid UTF-8, and without duplicate names. The error is a [*SyntaxError].
func CheckObject(data []byte) error { return validJSON(data, '{') }

// validJSON checks that data is exactly one JSON value of the wanted kind, within the limits, in
// valid UTF-8 and without duplicate names.
func validJSON(data []byte, kind jsontext.Kind, opts ...jsontext.Options) error {
	fail := func(offset int64, err error) error {
		return &SyntaxError{Element: -1, Offset: offset, Err: err}
	}
	if len(data) > maxStreamBytes {
		return fail(maxStreamBytes, errTooLarge)
	}
	if at := crowded(data); at >= 0 {
		return fail(int64(at), errCrowded)
	}
	if isUsual(data, kind) {
		return nil
	}
	if blobs.IsPointer(data) {
		return fail(0, blobs.ErrPointer)
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(data), opts...)
	if got := d.PeekKind(); got != kind && got != jsontext.KindInvalid {
		return fail(int64(jsonspan.SkipSpace(data, 0)), errors.New("not a JSON "+kindWord(kind)))
	}
	if err := d.SkipValue(); err != nil {
		e := syntaxError(err)
		if kind == '[' {
			e.Element = elementOf(err)
		}
		if e.Element >= 0 && errors.Is(err, jsontext.ErrDuplicateName) {
			e.Kind = kindAt(data, e.Element)
		}
		return e
	}
	// The decoder reads sequences of values, so it accepts a second one.
	if end := jsonspan.SkipSpace(data, int(d.InputOffset())); end < len(data) {
		return fail(int64(end), errors.New("unexpected data after the JSON value"))
	}
	return nil
}

// isUsual reports whether data is one JSON value of the wanted kind. It is a fast path: false does
// not mean that data is invalid.
func isUsual(data []byte, kind jsontext.Kind) bool {
	c := jsonspan.Cursor{B: data}
	if c.Space(); c.Peek() != byte(kind) {
		return false
	}
	c.Value()
	return c.End()
}

func kindWord(k jsontext.Kind) string {
	if k == '[' {
		return "array"
	}
	return "object"
}

// syntaxError converts an error of jsontext. The caller fills in the element, which only it knows.
func syntaxError(err error) *SyntaxError {
	e := &SyntaxError{Element: -1, Err: err}
	if errors.Is(err, io.EOF) {
		e.Err = errors.New("the file is empty")
		return e
	}
	if s, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		e.Offset, e.Err = s.ByteOffset, s.Err
	}
	return e
}

// elementOf returns the index of the array's element that an error is in, or -1.
func elementOf(err error) int {
	var s *jsontext.SyntacticError
	if !errors.As(err, &s) {
		return -1
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(string(s.JSONPointer), "/"), "/")
	if n, err := strconv.Atoi(first); err == nil {
		return n
	}
	return -1
}

// kindAt returns the kind of element n of an array with duplicate names, or "" if the array has
// other faults.
func kindAt(data []byte, n int) Kind {
	if validJSON(data, '[', jsontext.AllowDuplicateNames(true)) != nil {
		return ""
	}
	s := jsonspan.Elements(data, bytes.IndexByte(data, '['))[n]
	if data[s.At] != '{' {
		return ""
	}
	ms, _, _ := jsonspan.MembersAt(data, s.At, nil)
	return kindOf(data, ms)
}
