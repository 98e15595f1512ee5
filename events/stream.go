package events

import (
	"bytes"
	"iter"
	"slices"

	"github.com/git-jp/git-jp/events/internal/jsonspan"
)

// A Stream is what one events.json holds: elements in order, and the bytes that
// stand around them. It is not safe for use by several goroutines while one of
// them changes it; its elements are.
type Stream struct {
	items []item
	open  []byte // everything up to and including '['
	close []byte // from the last element on, with ']'
}

// An item is an element with the white space around it.
type item struct {
	el *Element
	// lead and trail are nil for an element that was not read with the stream.
	// The trail of the element that was last in the file is in Stream.close.
	lead, trail []byte
}

// New returns a stream of elems in canonical form.
func New(elems ...*Element) *Stream {
	s := &Stream{open: []byte("["), close: []byte("]\n")}
	s.Append(elems...)
	return s
}

// Encode returns the stream as a file. Elements and separators that were read and
// not changed keep their bytes, so that an unchanged stream is what it was read
// from.
func (s *Stream) Encode() []byte { return s.EncodeIn(nil) }

// EncodeIn is [Stream.Encode] in the memory of b, whose bytes it overwrites, where that is large
// enough, else in memory with some room for a stream that grows. The bytes of b must not be those
// that an element keeps.
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

// EncodesAs reports whether the stream, encoded, is data. It makes no copy.
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

// chunks yields what the encoded stream consists of, in order.
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

// endsAnew reports whether the last element needs a line feed after it: it was added where the
// file had nothing between its last element and ']'.
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

// All returns the elements with their indexes.
func (s *Stream) All() iter.Seq2[int, *Element] {
	return func(yield func(int, *Element) bool) {
		for i := range s.items {
			if !yield(i, s.items[i].el) {
				return
			}
		}
	}
}

// Set replaces element i. The white space around it stays.
func (s *Stream) Set(i int, e *Element) { s.items[i].el = e }

// Append adds elements at the end.
func (s *Stream) Append(elems ...*Element) {
	s.items = slices.Grow(s.items, len(elems))
	for _, e := range elems {
		s.items = append(s.items, item{el: e})
	}
}

// Insert puts e before element i, or at the end when i is the length.
func (s *Stream) Insert(i int, e *Element) {
	s.items = slices.Insert(s.items, i, item{el: e})
}

// Remove takes n elements out, from element i on.
func (s *Stream) Remove(i, n int) {
	s.items = slices.Delete(s.items, i, i+n)
}

// Clone returns a stream that can be changed without changing s. The elements,
// which are immutable, are shared.
func (s *Stream) Clone() *Stream {
	return &Stream{items: slices.Clone(s.items), open: s.open, close: s.close}
}

// Canonical returns the stream as today's jp would write it, which drops members
// that jp does not know. Use it to compare; [Stream.Encode] is what is saved.
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

// Validate reports what keeps the stream from being saved: an element that was
// built from something that the format does not have, or whose bytes do not read
// back. The error is a [*SyntaxError].
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

// decodes reports whether the stream is known to read back, without reading it: saving one
// event of a long stream must not cost reading the thousands that were there before. Each
// element was read from the bytes that it still has, on its own or in its place in a file;
// what its reading depends on besides is the limits. Between elements stand commas and
// white space. An element that is not known to be within the limits is no proof of the
// opposite.
func (s *Stream) decodes(o DecodeOptions) bool {
	for _, it := range s.items {
		if o.check(it.el.largest) != nil {
			return false
		}
	}
	size := s.size()
	return size <= MaxStreamBytes && (size < roomy || !s.crowded())
}

// crowded reports whether the stream has more elements than are read, or more in them. Adding
// elements that are within the limits one by one leads there.
func (s *Stream) crowded() bool {
	n := 1 // the list of the elements
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

// offset returns where element i begins in the encoded stream.
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
