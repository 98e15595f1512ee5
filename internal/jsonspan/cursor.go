package jsonspan

import (
	"encoding/binary"
	"math/bits"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// A Cursor scans a text that may be JSON once. It accepts only the usual forms of JSON and fails on
// anything else, valid or not, such as an escape in a name. A failed cursor is at the end of the
// text, so that loops over it end.
type Cursor struct {
	B       []byte
	At      int // of the next byte
	Failed  bool
	Repeats bool // an object may have several members of one name, and any number of members
	Known   bool // B is valid JSON, so values are skipped as they are
	depth   int
	names   []Span // of the members of the open objects; an empty one begins each object
}

// The limits of the usual form.
const (
	usualDepth   = 100
	usualMembers = 64 // of an object; each name is compared with all before it
	usualDigits  = 300
)

// IsUsual reports whether b is a single value in usual form. Such a value is valid JSON without
// numbers that a float cannot hold.
func IsUsual(b []byte) bool {
	c := cursors.Get().(*Cursor)
	defer cursors.Put(c)
	*c = Cursor{B: b, names: c.names[:0]}
	c.Value()
	usual := c.End()
	c.B = nil
	return usual
}

// IsValid reports whether b is valid JSON. It agrees with jsontext.
func IsValid(b []byte) bool { return IsUsual(b) || jsontext.Value(b).IsValid() }

// cursors reuses memory for names: most values are small and read one after the other.
var cursors = sync.Pool{New: func() any { return new(Cursor) }}

// Fail makes the cursor fail.
func (c *Cursor) Fail() { c.Failed, c.At = true, len(c.B) }

// Peek returns the next byte, or 0 at the end.
func (c *Cursor) Peek() byte {
	if c.At < len(c.B) {
		return c.B[c.At]
	}
	return 0
}

// End reports whether the cursor has not failed and only white space follows.
func (c *Cursor) End() bool {
	c.Space()
	return !c.Failed && c.At == len(c.B)
}

// Space skips white space.
func (c *Cursor) Space() {
	const spaces = 0x20 * eachByte
	for c.At < len(c.B) {
		switch c.B[c.At] {
		case ' ':
			if c.At+8 > len(c.B) {
				c.At++
				continue
			}
			others := binary.LittleEndian.Uint64(c.B[c.At:]) ^ spaces
			c.At += bits.TrailingZeros64(others) / 8
		case '\n', '\t', '\r':
			c.At++
		default:
			return
		}
	}
}

// Begin enters an object or an array, and reports whether it has any element.
func (c *Cursor) Begin(bracket byte) bool {
	if c.Peek() != bracket || c.depth == usualDepth {
		c.Fail()
		return false
	}
	c.At++
	c.depth++
	if bracket == '{' && !c.Repeats {
		c.names = append(c.names, Span{})
	}
	c.Space()
	if c.Peek() == closing(bracket) {
		c.end(bracket)
		return false
	}
	return true
}

// Next moves past an element of an object or an array, and reports whether another one follows.
func (c *Cursor) Next(bracket byte) bool {
	c.Space()
	switch c.Peek() {
	case ',':
		c.At++
		c.Space()
		return true
	case closing(bracket):
		c.end(bracket)
	default:
		c.Fail()
	}
	return false
}

// closing returns the bracket that closes an opening one. For both kinds it is two further in
// ASCII.
func closing(bracket byte) byte { return bracket + 2 }

func (c *Cursor) end(bracket byte) {
	c.At++
	c.depth--
	if bracket == '{' && !c.Repeats {
		n := len(c.names) - 1
		for c.names[n] != (Span{}) {
			n--
		}
		c.names = c.names[:n]
	}
}

// Name moves to the value of a member and returns its name. Without Repeats it fails if the object
// already has a member of that name.
func (c *Cursor) Name() []byte {
	name, plain := c.Text()
	behind, members := c.At, 0
	for i := len(c.names) - 1; i >= 0 && c.names[i] != (Span{}); i-- {
		if string(c.B[c.names[i].At:c.names[i].End]) == string(name) {
			plain = false
		}
		members++
	}
	if c.Space(); !plain || members == usualMembers || c.Peek() != ':' {
		c.Fail()
		return nil
	}
	if !c.Repeats {
		c.names = append(c.names, Span{behind - len(name) - 1, behind - 1})
	}
	c.At++
	c.Space()
	return name
}

// Value skips any value.
func (c *Cursor) Value() {
	if c.Known && c.At < len(c.B) {
		c.At = ValueEnd(c.B, c.At)
		return
	}
	switch c.Peek() {
	case '"':
		c.Text()
	case '{':
		for more := c.Begin('{'); more; more = c.Next('{') {
			c.Name()
			c.Value()
		}
	case '[':
		for more := c.Begin('['); more; more = c.Next('[') {
			c.Value()
		}
	case 't':
		c.literal("true")
	case 'f':
		c.literal("false")
	case 'n':
		c.literal("null")
	default:
		c.number()
	}
}

func (c *Cursor) literal(word string) {
	if end := c.At + len(word); end <= len(c.B) && string(c.B[c.At:end]) == word {
		c.At = end
		return
	}
	c.Fail()
}

// number skips a number that any float can hold: it has no exponent and few digits.
func (c *Cursor) number() {
	whole := c.At
	if c.Peek() == '-' {
		whole++
	}
	end := digitsEnd(c.B, whole)
	ok := end > whole && (end == whole+1 || c.B[whole] != '0')
	if end < len(c.B) && c.B[end] == '.' {
		fraction := end + 1
		end = digitsEnd(c.B, fraction)
		ok = ok && end > fraction
	}
	exponent := end < len(c.B) && c.B[end]|0x20 == 'e'
	if !ok || exponent || end-c.At > usualDigits {
		c.Fail()
		return
	}
	c.At = end
}

func digitsEnd(b []byte, i int) int {
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	return i
}

// Text skips a string and returns the bytes between its quotes. plain reports that it has no
// escapes.
func (c *Cursor) Text() (in []byte, plain bool) {
	if c.Peek() != '"' {
		c.Fail()
		return nil, false
	}
	start, ascii := c.At+1, true
	plain = true
	for i := ordinaryEnd(c.B, start); i < len(c.B); i = ordinaryEnd(c.B, i) {
		n := 1
		switch char := c.B[i]; {
		case char == '"':
			if in = c.B[start:i]; ascii || utf8.Valid(in) {
				c.At = i + 1
				return in, plain
			}
			n = 0
		case char == '\\':
			n, plain = escapeSize(c.B[i:]), false
		case char < ' ':
			n = 0
		default:
			ascii = false
		}
		if n == 0 {
			break
		}
		i += n
	}
	c.Fail()
	return nil, false
}

// eachByte times a byte is a word of eight such bytes.
const eachByte = 0x0101010101010101

// ordinaryEnd returns the index of the first byte, from b[i] on, that is a quote, a backslash, a
// control character or not ASCII.
func ordinaryEnd[T ~string | ~[]byte](b T, i int) int {
	const high = 0x80 * eachByte
	for ; i+8 <= len(b); i += 8 {
		w := word(b[i : i+8])
		quote, slash := w^'"'*eachByte, w^'\\'*eachByte
		// The lowest set bit is correct; higher ones may result from a borrow.
		odd := (w | (w - ' '*eachByte) | (quote - eachByte) | (slash - eachByte)) & high
		if odd != 0 {
			return i + bits.TrailingZeros64(odd)/8
		}
	}
	for i < len(b) && b[i] >= ' ' && b[i] < utf8.RuneSelf && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// word returns eight bytes in little-endian order. The compiler turns it into a single load.
func word[T ~string | ~[]byte](b T) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// escapeSize returns the length of the escape at the beginning of b, or 0 if it is invalid or half
// of a surrogate pair.
func escapeSize(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
	default:
		return 0
	}
	const size = len(`\u0000`)
	if len(b) < size {
		return 0
	}
	for _, digit := range b[2:size] {
		if c := digit | 0x20; ('0' > digit || digit > '9') && ('a' > c || c > 'f') {
			return 0
		}
	}
	if b[2]|0x20 == 'd' && b[3] >= '8' {
		return 0
	}
	return size
}
