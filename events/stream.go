package events

import (
	"bytes"
	"iter"
	"slices"

	"github.com/git-jp/git-jp/internal/jsonspan"
)

// A Stream is the content of one events.json: elements in order, and the bytes around them. It must
// not be used by several goroutines while one of them changes it; its elements may be.
type Stream struct {
	array
	open  []byte // everything up to and including '['
	close []byte // from the last element on, with ']'
	known known
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
func (s *Stream) Encode() []byte {
	return s.appendFrom(0, append(make([]byte, 0, s.size()), s.open...))
}

// EncodeAfter is [Stream.Encode] for a caller that has the encoding of the stream was: the result
// is the first same bytes of that, followed by rest. If was was only appended to, rest is short.
func (s *Stream) EncodeAfter(was *Stream) (same int, rest []byte) {
	if was == nil || !bytes.Equal(s.open, was.open) {
		return 0, s.Encode()
	}
	n := s.Common(was)
	same = was.through(n)
	return same, s.appendFrom(n, make([]byte, 0, s.size()-same))
}

// appendFrom appends the encoding of the stream from the end of element i-1 on.
func (s *Stream) appendFrom(i int, b []byte) []byte {
	for ; i < len(s.items); i++ {
		if i > 0 {
			b = append(b, ',')
		}
		it := s.items[i]
		b = append(append(append(b, it.before()...), it.el.raw...), it.trail...)
	}
	if s.endsAnew() {
		b = append(b, '\n')
	}
	return append(b, s.close...)
}

// Common returns how many elements both streams begin with, in the same white space. For a stream
// and a clone of it that was appended to, no element is compared.
func (s *Stream) Common(other *Stream) int {
	n := min(len(s.items), len(other.items))
	if n == 0 || &s.items[0] == &other.items[0] {
		return n
	}
	for i := range n {
		if !s.items[i].same(other.items[i]) {
			return i
		}
	}
	return n
}

func (it item) same(other item) bool {
	return it.el == other.el && bytes.Equal(it.before(), other.before()) &&
		bytes.Equal(it.trail, other.trail)
}

// through returns the offset at which the first n elements end in the encoded stream.
func (s *Stream) through(n int) int {
	from, size := 0, len(s.open)+max(n-1, 0)
	if s.known.n <= n {
		from, size = s.known.n, size+s.known.size
	}
	for _, it := range s.items[from:n] {
		size += it.size()
	}
	return size
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
	n := s.through(len(s.items)) + len(s.close)
	if s.endsAnew() {
		n++
	}
	return n
}

func (it item) size() int { return len(it.before()) + len(it.el.raw) + len(it.trail) }

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
func (s *Stream) Set(i int, e *Element) {
	s.touch(i)
	s.items[i].el = e
}

// touch prepares the stream for a change of element i or later ones.
func (s *Stream) touch(i int) {
	s.own()
	if i < s.known.n {
		s.known = known{}
	}
}

// Append adds elements at the end.
func (s *Stream) Append(elems ...*Element) {
	items := make([]item, len(elems))
	for i, e := range elems {
		items[i].el = e
	}
	s.append(items...)
}

// Insert inserts e before element i, or at the end if i is the length.
func (s *Stream) Insert(i int, e *Element) {
	if i == len(s.items) {
		s.Append(e)
		return
	}
	s.touch(i)
	s.items = slices.Insert(s.items, i, item{el: e})
}

// Remove removes n elements, starting with element i.
func (s *Stream) Remove(i, n int) {
	s.touch(i)
	s.items = slices.Delete(s.items, i, i+n)
}

// Clone returns a stream that can be changed without changing s. The immutable elements are shared.
func (s *Stream) Clone() *Stream {
	return &Stream{array: s.share(), open: s.open, close: s.close, known: s.known}
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
