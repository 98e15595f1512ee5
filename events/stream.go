package events

import (
	"bytes"
	"iter"
	"slices"

	"github.com/git-jp/git-jp/events/internal/jsonspan"
)

// A Stream is the content of one events.json: elements in order, and the bytes around them. It must
// not be used by several goroutines while one of them changes it; its elements may be.
type Stream struct {
	items []item
	open  []byte // everything up to and including '['
	close []byte // from the last element on, with ']'
}

// An item is an element with the white space around it.
type item struct {
	el *Element
	// lead and trail are nil for an element that was not read with the stream. The trail of the
	// last element of the file is in Stream.close.
	lead, trail []byte
}

// New returns a stream of elems in canonical form.
func New(elems ...*Element) *Stream {
	s := &Stream{open: []byte("["), close: []byte("]\n")}
	s.Append(elems...)
	return s
}

// Encode returns the file. Elements and separators that were read and not changed keep their bytes,
// so an unchanged stream encodes to the file it was read from.
func (s *Stream) Encode() []byte { return s.EncodeIn(nil) }

// EncodeIn is [Stream.Encode] into b, which it overwrites if its capacity suffices; otherwise it
// allocates memory with some room for a stream that grows. No element may share the bytes of b.
func (s *Stream) EncodeIn(b []byte) []byte {
	n := s.size()
	if b = b[:0]; cap(b) < n {
		const room = 8
		b = make([]byte, 0, n+n/room)
	}
	for chunk := range s.chunks() {
		b = append(b, chunk...)
	}
	return b
}

// EncodesAs reports whether the encoded stream equals data. It makes no copy.
func (s *Stream) EncodesAs(data []byte) bool {
	if s.size() != len(data) {
		return false
	}
	for chunk := range s.chunks() {
		rest, ok := bytes.CutPrefix(data, chunk)
		if !ok {
			return false
		}
		data = rest
	}
	return len(data) == 0
}

// chunks yields the parts of the encoded stream in order.
func (s *Stream) chunks() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if !yield(s.open) {
			return
		}
		for i, it := range s.items {
			if i > 0 && !yield([]byte{','}) ||
				!yield(it.before()) || !yield(it.el.raw) || !yield(it.trail) {
				return
			}
		}
		if s.endsAnew() && !yield([]byte{'\n'}) {
			return
		}
		yield(s.close)
	}
}

// before returns the white space before the element.
func (it item) before() []byte {
	if it.lead == nil {
		return []byte("\n" + jsonspan.IndentStep)
	}
	return it.lead
}

// endsAnew reports whether the last element needs a line feed after it, because it was added to a
// file with nothing between its last element and ']'.
func (s *Stream) endsAnew() bool {
	n := len(s.items)
	return n > 0 && s.items[n-1].lead == nil && s.close[0] == ']'
}

// size returns the length of the encoded stream.
func (s *Stream) size() int {
	n := len(s.open) + len(s.close) + max(len(s.items)-1, 0)
	if s.endsAnew() {
		n++
	}
	for _, it := range s.items {
		n += len(it.before()) + len(it.el.raw) + len(it.trail)
	}
	return n
}

// Len returns the number of elements.
func (s *Stream) Len() int { return len(s.items) }

// At returns element i.
func (s *Stream) At(i int) *Element { return s.items[i].el }

// All yields the elements with their indexes.
func (s *Stream) All() iter.Seq2[int, *Element] {
	return func(yield func(int, *Element) bool) {
		for i := range s.items {
			if !yield(i, s.items[i].el) {
				return
			}
		}
	}
}

// Set replaces element i and keeps the white space around it.
func (s *Stream) Set(i int, e *Element) { s.items[i].el = e }

// Append adds elements at the end.
func (s *Stream) Append(elems ...*Element) {
	s.items = slices.Grow(s.items, len(elems))
	for _, e := range elems {
		s.items = append(s.items, item{el: e})
	}
}

// Insert inserts e before element i, or at the end if i is the length.
func (s *Stream) Insert(i int, e *Element) {
	s.items = slices.Insert(s.items, i, item{el: e})
}

// Remove removes n elements, starting with element i.
func (s *Stream) Remove(i, n int) {
	s.items = slices.Delete(s.items, i, i+n)
}

// Clone returns a stream that can be changed without changing s. The immutable elements are shared.
func (s *Stream) Clone() *Stream {
	return &Stream{items: slices.Clone(s.items), open: s.open, close: s.close}
}

// Canonical returns the stream as today's jp would write it, which drops members that jp does not
// know. Use it to compare, and [Stream.Encode] to save.
func (s *Stream) Canonical() []byte {
	if len(s.items) == 0 {
		return []byte("[]\n")
	}
	b := []byte{'['}
	for i, e := range s.All() {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, "\n"+jsonspan.IndentStep...), e.Canonical()...)
	}
	return append(b, "\n]\n"...)
}

// Validate reports why the stream cannot be saved: an element was built from something that the
// format does not have, or its bytes do not read back. The error is a [*SyntaxError].
func (s *Stream) Validate() error { return s.ValidateWith(DecodeOptions{}) }

// ValidateWith is [Stream.Validate] with the limits of o.
func (s *Stream) ValidateWith(o DecodeOptions) error {
	for i, e := range s.All() {
		if e.err != nil {
			return s.ErrorAt(i, e.err)
		}
	}
	if s.decodes(o) {
		return nil
	}
	_, err := DecodeWith(s.Encode(), o)
	return err
}

// decodes reports whether the stream is known to read back, without reading it: saving one event of
// a long stream must not cost reading the thousands before it. Each element was read from the bytes
// that it still has, alone or as part of a file, so only the limits can make reading fail, and only
// commas and white space separate elements. A false result does not prove that the stream is
// invalid.
func (s *Stream) decodes(o DecodeOptions) bool {
	for _, it := range s.items {
		if o.check(it.el.largest) != nil {
			return false
		}
	}
	size := s.size()
	return size <= MaxStreamBytes && (size < roomy || !s.crowded())
}

// crowded reports whether the stream has more elements than can be read, or more objects and arrays
// in them. Adding elements one by one can lead there even if each is within the limits.
func (s *Stream) crowded() bool {
	n := 1 // the array of the elements
	for _, it := range s.items {
		if n += it.el.containers(); n > maxContainers {
			return true
		}
	}
	return len(s.items) > maxContainers
}

// ErrorAt returns an error about element i.
func (s *Stream) ErrorAt(i int, err error) *SyntaxError {
	return &SyntaxError{Element: i, Kind: s.At(i).kind, Offset: s.offset(i), Err: err}
}

// offset returns the offset of element i in the encoded stream.
func (s *Stream) offset(i int) int64 {
	n := len(s.open)
	for j, it := range s.items[:i+1] {
		n += len(it.before())
		if j < i {
			n += len(it.el.raw) + len(it.trail) + 1
		}
	}
	return int64(n)
}
