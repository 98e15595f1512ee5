package sessions

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// A shape describes how values of a type are parsed from JSON in one pass that skips members
// without a field. It supports only the usual forms of records and leaves everything else to
// package json: names with escapes, duplicate names, unexpected types, and invalid JSON.
type shape struct {
	kind   reading
	fields []field // of a struct
	// first has the number of the first field with a name of some look, and each field that of the
	// next one; 0 ends them. A map takes longer than comparing with one or two names.
	first [256]uint8
	of    reflect.Type // of the elements of a list or a map, or of a pointer
}

// A reading is a way of parsing a value.
type reading int

const (
	foreign   reading = iota // by package json
	taking                   // by its own method
	raw                      // as raw JSON
	structure                // by members
	list
	mapping
	pointer
)

// A field is a field of a struct.
type field struct {
	name  string
	next  uint8
	bit   uint64 // its bit in a set of fields
	index []int
	*shape
}

// A taker sets itself from any JSON value. The value is valid.
type taker interface{ take(v jsontext.Value) }

// shapes caches the shapes of types, since inspecting a type takes longer than parsing.
var shapes sync.Map // of *shape by reflect.Type

func shapeOf(t reflect.Type) *shape {
	if known, ok := shapes.Load(t); ok {
		return known.(*shape)
	}
	s := newShape(t)
	shapes.Store(t, s)
	return s
}

func newShape(t reflect.Type) *shape {
	switch {
	case reflect.PointerTo(t).Implements(reflect.TypeFor[taker]()):
		return &shape{kind: taking}
	case t == reflect.TypeFor[jsontext.Value]():
		return &shape{kind: raw}
	case t.Kind() == reflect.Pointer:
		return &shape{kind: pointer, of: t.Elem()}
	case t.Kind() == reflect.Slice:
		return &shape{kind: list, of: t.Elem()}
	case t.Kind() == reflect.Map && t.Key() == reflect.TypeFor[string]():
		return &shape{kind: mapping, of: t.Elem()}
	case t.Kind() == reflect.Struct:
		s := &shape{kind: structure}
		if s.add(t, nil) {
			return s
		}
	}
	return &shape{}
}

// add adds the fields of a struct, those of embedded structs after its own. It reports whether the
// shape covers all fields that package json uses.
func (s *shape) add(t reflect.Type, index []int) bool {
	var inner []reflect.StructField
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			inner = append(inner, f)
			continue
		case !f.IsExported():
			continue
		}
		of := shapeOf(f.Type)
		if name == "" || s.field([]byte(name)) != nil || options != "" || of.kind == foreign ||
			len(s.fields) == 64 {
			return false
		}
		first := &s.first[look([]byte(name))]
		s.fields = append(s.fields, field{
			name, *first, 1 << len(s.fields), append(index[:len(index):len(index)], i), of,
		})
		*first = uint8(len(s.fields)) // at most 64
	}
	for _, f := range inner {
		if f.Type.Kind() != reflect.Struct || !s.add(f.Type, append(index, f.Index...)) {
			return false
		}
	}
	return true
}

// field returns the field for a member, or nil if there is none.
func (s *shape) field(name []byte) *field {
	if len(name) == 0 {
		return nil
	}
	for n := s.first[look(name)]; n > 0; n = s.fields[n-1].next {
		if f := &s.fields[n-1]; f.name == string(name) {
			return f
		}
	}
	return nil
}

// look returns a number in which names that are not alike usually differ.
func look(name []byte) uint8 { return name[0]*7 + name[len(name)-1]*3 + uint8(len(name)) }

// unmarshal parses data into v, which is zero, and reports whether it could. depth is 0, or known.
func unmarshal(data []byte, v reflect.Value, depth int) bool {
	s := shapeOf(v.Type())
	if s.kind == foreign {
		return false
	}
	end := s.read(data, space(data, 0), v, depth)
	return end >= 0 && space(data, end) == len(data)
}

// read parses the value at b[i] into v, and returns the index after it, -1 if package json must
// parse it.
func (s *shape) read(b []byte, i int, v reflect.Value, depth int) int {
	switch {
	case i >= len(b):
		return -1
	case s.kind == taking, s.kind == raw:
		end := skip(b, i, depth)
		if end < 0 {
			return -1
		}
		if s.kind == raw {
			v.SetBytes(b[i:end:end])
		} else {
			v.Addr().Interface().(taker).take(b[i:end:end])
		}
		return end
	case b[i] == 'n': // null leaves v zero
		return skip(b, i, depth)
	case s.kind == structure && b[i] == '{':
		return s.members(b, i, v, depth)
	case s.kind == mapping && b[i] == '{':
		return s.entries(b, i, v, depth)
	case s.kind == list && b[i] == '[':
		return s.elements(b, i, v, depth)
	case s.kind == pointer:
		v.Set(reflect.New(s.of))
		return shapeOf(s.of).read(b, i, v.Elem(), depth)
	}
	return -1
}

func (s *shape) members(b []byte, i int, v reflect.Value, depth int) int {
	seen := uint64(0)
	return eachMember(b, i, depth, func(name []byte, i int) int {
		f := s.field(name)
		switch {
		case bytes.IndexByte(name, '\\') >= 0:
			return -1
		case f == nil:
			return skip(b, i, depth+1)
		case seen&f.bit != 0:
			return -1
		}
		seen |= f.bit
		return f.read(b, i, v.FieldByIndex(f.index), depth+1)
	})
}

func (s *shape) entries(b []byte, i int, v reflect.Value, depth int) int {
	if m, ok := v.Addr().Interface().(*map[string]jsontext.Value); ok {
		*m = map[string]jsontext.Value{}
		return values(b, i, *m, depth)
	}
	v.Set(reflect.MakeMap(v.Type()))
	of := shapeOf(s.of)
	return eachMember(b, i, depth, func(name []byte, i int) int {
		key, value := reflect.ValueOf(string(name)), reflect.New(s.of).Elem()
		if !isPlain(name) || v.MapIndex(key).IsValid() {
			return -1
		}
		end := of.read(b, i, value, depth+1)
		if end >= 0 {
			v.SetMapIndex(key, value)
		}
		return end
	})
}

// values reads the members of an object as raw JSON values.
func values(b []byte, i int, m map[string]jsontext.Value, depth int) int {
	return eachMember(b, i, depth, func(name []byte, i int) int {
		if _, twice := m[string(name)]; twice || !isPlain(name) {
			return -1
		}
		end := skip(b, i, depth+1)
		if end >= 0 {
			m[string(name)] = b[i:end:end]
		}
		return end
	})
}

func (s *shape) elements(b []byte, i int, v reflect.Value, depth int) int {
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	of := shapeOf(s.of)
	return eachElement(b, i, depth, func(i int) int {
		n := v.Len()
		if n == v.Cap() {
			v.Grow(1)
		}
		v.SetLen(n + 1)
		return of.read(b, i, v.Index(n), depth+1)
	})
}

// known is the depth for values that were validated before: their end is found without a second
// validation.
const known = math.MinInt / 2

// maxNested limits the nesting of what is parsed here.
const maxNested = 500

// eachMember calls each with the raw name of each member of the object at b[i] and the index of its
// value; each returns the index after the value. eachMember returns the index after the object, -1
// if it is none or each returned -1.
func eachMember(b []byte, i, depth int, each func(name []byte, i int) int) int {
	if depth > maxNested {
		return -1
	}
	if i = space(b, i+1); i < len(b) && b[i] == '}' {
		return i + 1
	}
	for i < len(b) && b[i] == '"' {
		end := text(b, i)
		if end < 0 {
			return -1
		}
		name := b[i+1 : end-1]
		if i = space(b, end); i >= len(b) || b[i] != ':' {
			return -1
		}
		if i = each(name, space(b, i+1)); i < 0 {
			return -1
		}
		i = space(b, i)
		switch {
		case i >= len(b):
			return -1
		case b[i] == '}':
			return i + 1
		case b[i] != ',':
			return -1
		}
		i = space(b, i+1)
	}
	return -1
}

// eachElement calls each with the index of each element of the array at b[i].
func eachElement(b []byte, i, depth int, each func(i int) int) int {
	if depth > maxNested {
		return -1
	}
	if i = space(b, i+1); i < len(b) && b[i] == ']' {
		return i + 1
	}
	for i < len(b) {
		if i = each(i); i < 0 {
			return -1
		}
		i = space(b, i)
		switch {
		case i >= len(b):
			return -1
		case b[i] == ']':
			return i + 1
		case b[i] != ',':
			return -1
		}
		i = space(b, i+1)
	}
	return -1
}

// skip returns the index after the value at b[i], -1 if there is none.
func skip(b []byte, i, depth int) int {
	if i >= len(b) {
		return -1
	}
	if depth < 0 && strings.IndexByte(`"{[`, b[i]) >= 0 {
		return knownEnd(b, i)
	}
	switch c := b[i]; c {
	case '"':
		return text(b, i)
	case '{':
		return eachMember(b, i, depth, func(_ []byte, i int) int { return skip(b, i, depth+1) })
	case '[':
		return eachElement(b, i, depth, func(i int) int { return skip(b, i, depth+1) })
	case 't':
		return literal(b, i, "true")
	case 'f':
		return literal(b, i, "false")
	case 'n':
		return literal(b, i, "null")
	default:
		return number(b, i)
	}
}

// knownEnd returns the index after the string or the container at b[i], which was validated before.
func knownEnd(b []byte, i int) int {
	for open := 0; i < len(b); {
		switch b[i] {
		case '"':
			i = knownText(b, i)
		case '{', '[':
			open++
			i++
		case '}', ']':
			open--
			i++
		default:
			i++
			continue
		}
		if open == 0 {
			return i
		}
	}
	return -1
}

// knownText returns the index after the string at b[i].
func knownText(b []byte, i int) int {
	for i++; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b) + 1
		}
		end := i + n
		slash := end
		for slash > i && b[slash-1] == '\\' {
			slash--
		}
		if i = end + 1; (end-slash)%2 == 0 {
			return i
		}
	}
}

func literal(b []byte, i int, word string) int {
	if !bytes.HasPrefix(b[i:], []byte(word)) {
		return -1
	}
	return i + len(word)
}

// number returns the index after the number at b[i] (RFC 8259, 6).
func number(b []byte, i int) int {
	if i < len(b) && b[i] == '-' {
		i++
	}
	from := i
	if i = digits(b, i); i == from || b[from] == '0' && i > from+1 {
		return -1
	}
	if i < len(b) && b[i] == '.' {
		from = i + 1
		if i = digits(b, from); i == from {
			return -1
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		from = i
		if i = digits(b, from); i == from {
			return -1
		}
	}
	return i
}

func digits(b []byte, i int) int {
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	return i
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// text returns the index after the string at b[i], -1 if it is none (RFC 8259, 7). It accepts
// invalid UTF-8.
func text(b []byte, i int) int {
	for i++; ; {
		i = plain(b, i)
		switch {
		case i >= len(b) || b[i] < ' ':
			return -1
		case b[i] == '"':
			return i + 1
		}
		switch {
		case i+1 < len(b) && int(b[i+1]) < len(unescape) && unescape[b[i+1]] != 0:
			i += 2
		case i+5 < len(b) && b[i+1] == 'u' && isHex(b[i+2:i+6]):
			i += 6
		default:
			return -1
		}
	}
}

func isHex(b []byte) bool {
	for _, c := range b {
		if ('0' > c || c > '9') && ('a' > c|0x20 || c|0x20 > 'f') {
			return false
		}
	}
	return true
}

// plain returns the index of the first byte from b[i] on that is a quote, a backslash or a control
// character. It looks at eight bytes at a time.
func plain(b []byte, i int) int {
	const each = 0x0101010101010101
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		// The highest bit of each byte that is below a space, a quote or a backslash.
		found := (w - ' '*each) | ((w ^ '"'*each) - each) | ((w ^ '\\'*each) - each)
		if found &= 0x80 * each &^ w; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(b) && b[i] >= ' ' && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// isPlain reports whether a string needs no unquoting.
func isPlain(s []byte) bool { return bytes.IndexByte(s, '\\') < 0 && utf8.Valid(s) }

// unquote returns the value of a valid string. Invalid UTF-8 becomes U+FFFD.
func unquote(v []byte) string {
	if s := v[1 : len(v)-1]; isPlain(s) {
		return plainly(s)
	}
	room := texts.Get().(*[]byte)
	defer texts.Put(room)
	*room = appendUnquoted((*room)[:0], v)
	s := string(*room)
	if cap(*room) > maxKept {
		*room = nil
	}
	return s
}

// texts holds buffers for strings that are unquoted.
var texts = sync.Pool{New: func() any { return new([]byte) }}

// appendUnquoted appends the value of a valid string. Invalid UTF-8 becomes U+FFFD.
func appendUnquoted(dst, v []byte) []byte {
	s, begin := v[1:len(v)-1], len(dst)
	if !utf8.Valid(s) {
		return appendRepaired(dst, v)
	}
	dst = slices.Grow(dst, len(s))
	for i := bytes.IndexByte(s, '\\'); i >= 0; i = bytes.IndexByte(s, '\\') {
		dst = append(dst, s[:i]...)
		if s[i+1] != 'u' {
			dst = append(dst, unescape[s[i+1]])
			s = s[i+2:]
			continue
		}
		r, _ := strconv.ParseUint(string(s[i+2:i+6]), 16, 16) // it was validated
		if utf16.IsSurrogate(rune(r)) {
			return appendRepaired(dst[:begin], v)
		}
		dst = utf8.AppendRune(dst, rune(r))
		s = s[i+6:]
	}
	return append(dst, s...)
}

// plainly returns s as a string. Words that many records have are not allocated.
func plainly(s []byte) string {
	switch string(s) {
	case "user":
		return "user"
	case "assistant":
		return "assistant"
	case "progress":
		return "progress"
	case "text":
		return "text"
	case "thinking":
		return "thinking"
	case "tool_use":
		return "tool_use"
	case "tool_result":
		return "tool_result"
	case "main":
		return "main"
	case "agent_progress":
		return "agent_progress"
	case "hook_progress":
		return "hook_progress"
	}
	return string(s)
}

// unescape has what escapes of one letter stand for.
var unescape = [...]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// appendRepaired is appendUnquoted for any string.
func appendRepaired(dst, v []byte) []byte {
	dst, _ = jsontext.AppendUnquote(dst, v) // the error reports invalid UTF-8, which became U+FFFD
	return dst
}
