package sessions

import (
	"bytes"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/git-jp/git-jp/internal/jsonspan"
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

// unmarshal parses data into v, which is zero, and reports whether it could. known says that data
// is valid JSON.
func unmarshal(data []byte, v reflect.Value, known bool) bool {
	s := shapeOf(v.Type())
	if s.kind == foreign {
		return false
	}
	c := jsonspan.Cursor{B: data, Repeats: true, Known: known}
	c.Space()
	s.read(&c, v)
	return c.End()
}

// read parses the value at the cursor into v. The cursor fails if package json must parse it.
func (s *shape) read(c *jsonspan.Cursor, v reflect.Value) {
	switch next := c.Peek(); {
	case s.kind == raw:
		v.SetBytes(value(c))
	case s.kind == taking:
		if in := value(c); in != nil {
			v.Addr().Interface().(taker).take(in)
		}
	case next == 'n': // null leaves v zero
		c.Value()
	case s.kind == structure && next == '{':
		s.members(c, v)
	case s.kind == mapping && next == '{':
		s.entries(c, v)
	case s.kind == list && next == '[':
		s.elements(c, v)
	case s.kind == pointer:
		v.Set(reflect.New(s.of))
		shapeOf(s.of).read(c, v.Elem())
	default:
		c.Fail()
	}
}

// value returns the value at the cursor, or nil if the cursor fails.
func value(c *jsonspan.Cursor) jsontext.Value {
	from := c.At
	c.Value()
	if c.Failed {
		return nil
	}
	return c.B[from:c.At:c.At]
}

func (s *shape) members(c *jsonspan.Cursor, v reflect.Value) {
	seen := uint64(0)
	for more := c.Begin('{'); more; more = c.Next('{') {
		switch f := s.field(c.Name()); {
		case f == nil:
			c.Value()
		case seen&f.bit != 0:
			c.Fail()
		default:
			seen |= f.bit
			f.read(c, v.FieldByIndex(f.index))
		}
	}
}

func (s *shape) entries(c *jsonspan.Cursor, v reflect.Value) {
	if m, ok := v.Addr().Interface().(*map[string]jsontext.Value); ok {
		*m = map[string]jsontext.Value{}
		values(c, *m)
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	of := shapeOf(s.of)
	for more := c.Begin('{'); more; more = c.Next('{') {
		key, value := reflect.ValueOf(string(c.Name())), reflect.New(s.of).Elem()
		if v.MapIndex(key).IsValid() {
			c.Fail()
		}
		of.read(c, value)
		v.SetMapIndex(key, value)
	}
}

// values reads the members of an object as raw JSON values.
func values(c *jsonspan.Cursor, m map[string]jsontext.Value) {
	for more := c.Begin('{'); more; more = c.Next('{') {
		name := string(c.Name())
		if _, twice := m[name]; twice {
			c.Fail()
		}
		m[name] = value(c)
	}
}

func (s *shape) elements(c *jsonspan.Cursor, v reflect.Value) {
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	of := shapeOf(s.of)
	for more := c.Begin('['); more; more = c.Next('[') {
		n := v.Len()
		if n == v.Cap() {
			v.Grow(1)
		}
		v.SetLen(n + 1)
		of.read(c, v.Index(n))
	}
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
	*room = jsonspan.AppendText((*room)[:0], v)
	s := string(*room)
	if cap(*room) > maxKept {
		*room = nil
	}
	return s
}

// texts holds buffers for strings that are unquoted.
var texts = sync.Pool{New: func() any { return new([]byte) }}

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
