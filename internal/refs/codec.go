package refs

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

var errPayload = errors.New("malformed payload")

// A writer encodes a payload. Repeated strings are written as the number of their first occurrence.
type writer struct {
	buf  []byte
	seen map[string]int
}

func (w *writer) int(v int)    { w.buf = binary.AppendVarint(w.buf, int64(v)) }
func (w *writer) long(v int64) { w.buf = binary.AppendVarint(w.buf, v) }

func (w *writer) bool(v bool) {
	if v {
		w.int(1)
	} else {
		w.int(0)
	}
}

// string writes 0 and the bytes of a new string, or n for the n-th one.
func (w *writer) string(s string) {
	if n, ok := w.seen[s]; ok {
		w.buf = binary.AppendUvarint(w.buf, uint64(n))
		return
	}
	if w.seen == nil {
		w.seen = make(map[string]int)
	}
	w.seen[s] = len(w.seen) + 1
	w.buf = binary.AppendUvarint(w.buf, 0)
	w.buf = binary.AppendUvarint(w.buf, uint64(len(s)))
	w.buf = append(w.buf, s...)
}

// A reader decodes a payload. After the first error it returns zero values, and err is set. A
// payload has passed its checksum, but a reader trusts no length all the same.
type reader struct {
	buf  []byte
	text string // buf as a string, set by the first string; strings are slices of it
	seen []string
	err  error
}

func newReader(payload []byte) *reader {
	return &reader{buf: payload}
}

func (r *reader) fail() { r.buf, r.err = nil, errPayload }

func number[T int64 | uint64](r *reader, decode func([]byte) (T, int)) T {
	v, n := decode(r.buf)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.buf = r.buf[n:]
	return v
}

func (r *reader) long() int64 { return number(r, binary.Varint) }

func (r *reader) int() int { return int(r.long()) }

func (r *reader) bool() bool { return r.int() != 0 }

func (r *reader) uint() uint64 { return number(r, binary.Uvarint) }

// count reads the number of items that take at least one byte each.
func (r *reader) count() int {
	n := r.uint()
	if n > uint64(len(r.buf)) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *reader) string() string {
	switch n := r.uint(); {
	case r.err != nil || n > uint64(len(r.seen)):
		r.fail()
		return ""
	case n > 0:
		return r.seen[n-1]
	}
	size := r.count()
	if r.err != nil {
		return ""
	}
	if r.text == "" {
		r.text = string(r.buf)
	}
	from := len(r.text) - len(r.buf)
	s := r.text[from : from+size]
	r.buf, r.seen = r.buf[size:], append(r.seen, s)
	return s
}

func (r *reader) hash() (h blobs.Hash) {
	if len(r.buf) < len(h) {
		r.fail()
		return h
	}
	copy(h[:], r.buf)
	r.buf = r.buf[len(h):]
	return h
}

// done returns an error unless the payload was read to its end.
func (r *reader) done() error {
	if r.err == nil && len(r.buf) > 0 {
		r.err = errPayload
	}
	return r.err
}

// syntaxError writes 0 for nil.
func (w *writer) syntaxError(e *events.SyntaxError) {
	w.bool(e != nil)
	if e == nil {
		return
	}
	w.string(e.Path)
	w.int(e.Element)
	w.string(string(e.Kind))
	w.long(e.Offset)
	text := ""
	if e.Err != nil {
		text = e.Err.Error()
	}
	w.string(text)
}

func (r *reader) syntaxError() *events.SyntaxError {
	if !r.bool() {
		return nil
	}
	e := &events.SyntaxError{
		Path: r.string(), Element: r.int(), Kind: events.Kind(r.string()),
		Offset: r.long(), Err: errors.New(r.string()),
	}
	if e.Err.Error() == blobs.ErrPointer.Error() {
		e.Err = blobs.ErrPointer
	}
	return e
}

// writeAll writes the number of values, then each.
func writeAll[T any](w *writer, all []T, write func(T)) {
	w.buf = binary.AppendUvarint(w.buf, uint64(len(all)))
	for _, v := range all {
		write(v)
	}
}

// readAll reads what writeAll wrote. A value has at least so many bytes.
func readAll[T any](r *reader, shortest int, read func() T) []T {
	n := r.count()
	if n == 0 {
		return nil
	}
	all := make([]T, 0, min(n, len(r.buf)/shortest+1))
	for range n {
		v := read()
		if r.err != nil {
			return nil
		}
		all = append(all, v)
	}
	return all
}

// refs writes elements and offsets as differences, which are small.
func (w *writer) refs(all []events.RefAt) {
	const usual = 80 // bytes of a reference
	w.buf = slices.Grow(w.buf, usual*len(all))
	var last events.RefAt
	writeAll(w, all, func(at events.RefAt) {
		w.buf = append(w.buf, at.Ref.Hash[:]...)
		w.long(at.Ref.Size)
		w.int(at.Element - last.Element)
		w.int(at.Turn)
		w.string(at.Call)
		w.string(at.Tool)
		w.string(string(at.Part))
		w.string(at.URI)
		w.long(at.Offset - last.Offset)
		w.bool(at.Loose)
		last = at
	})
}

func (r *reader) refs() []events.RefAt {
	var last events.RefAt
	return readAll(r, len(blobs.Hash{}), func() events.RefAt {
		last = events.RefAt{
			Ref:     blobs.Ref{Hash: r.hash(), Size: r.long()},
			Element: last.Element + r.int(),
			Turn:    r.int(),
			Call:    r.string(),
			Tool:    r.string(),
			Part:    events.Part(r.string()),
			URI:     r.string(),
			Offset:  last.Offset + r.long(),
			Loose:   r.bool(),
		}
		return last
	})
}

func (w *writer) calls(open []OpenCall) {
	writeAll(w, open, func(c OpenCall) {
		w.int(c.Element)
		w.int(c.Turn)
		w.string(c.ID)
		w.string(c.Tool)
		w.long(c.Offset)
	})
}

func (r *reader) calls() []OpenCall {
	return readAll(r, shortestCall, func() OpenCall {
		return OpenCall{
			Element: r.int(), Turn: r.int(), ID: r.string(), Tool: r.string(), Offset: r.long(),
		}
	})
}

func (w *writer) dropped(all []DroppedAt) {
	writeAll(w, all, func(p DroppedAt) {
		w.int(p.Element)
		w.int(p.Turn)
		w.long(p.Offset)
	})
}

func (r *reader) dropped() []DroppedAt {
	return readAll(r, shortestDropped, func() DroppedAt {
		return DroppedAt{Element: r.int(), Turn: r.int(), Offset: r.long()}
	})
}

// shortestDropped is the minimal length of one in bytes.
const shortestDropped = 3

// shortestCall is the minimal length of a call in bytes: one for each number, and for each string.
const shortestCall = 5
