package jsonspan

import (
	"bytes"
	"slices"
)

// A Field is a member as the codec would write it: its name, and either its compact value or the
// source of one. A field with neither is absent.
type Field struct {
	Name  string
	Value []byte
	From  Source
	// Replaces names other forms of the same member, such as MCP's bare "text" for "content". They
	// are removed when the field changes.
	Replaces []string
}

// A Source produces the value of a member. Changes are found by comparing sources, so that a value
// is encoded only if it is written: the result of a tool can be long.
type Source interface {
	// Append appends the value, indented for a depth of a canonical file or compact. A value that
	// is not JSON is appended unchanged, for Validate to report.
	Append(dst []byte, depth int) []byte
	// Same reports whether both encode to the same value. A wrong false only changes a spelling,
	// but a wrong true would lose a change.
	Same(other Source) bool
}

// Absent reports whether the field has no value.
func (f Field) Absent() bool { return f.Value == nil && f.From == nil }

// Encode returns the compact value, or nil if the field is absent.
func (f Field) Encode() []byte {
	if f.From != nil {
		return f.From.Append(nil, Compacted)
	}
	return f.Value
}

// append appends the value, indented for a depth.
func (f Field) append(dst []byte, depth int) []byte {
	if f.From != nil {
		return f.From.Append(dst, depth)
	}
	if depth == Compacted {
		return append(dst, f.Value...)
	}
	return AppendIndented(dst, f.Value, depth)
}

// same compares values. An absent value differs from all others.
func (f Field) same(g Field) bool {
	if f.From != nil && g.From != nil {
		return f.From.Same(g.From)
	}
	return f.Absent() == g.Absent() && bytes.Equal(f.Encode(), g.Encode())
}

// Splice returns the object raw with the members changed in which after differs from before. All
// other bytes are kept, including members that neither names. The order of after decides where new
// members are inserted; depth is the depth of the object in a canonical file.
func Splice(raw []byte, before, after []Field, depth int) []byte {
	changes := changedFields(before, after)
	if len(changes) == 0 {
		return raw
	}
	l := ParseLayout(raw)
	for _, f := range changes {
		for _, name := range f.Replaces {
			l.Remove(name)
		}
		if f.Absent() {
			l.Remove(f.Name)
			continue
		}
		l.Set(f.Name, f.append(nil, depth+1), func() int {
			return l.place(f.Name, after)
		})
	}
	return l.Bytes(depth)
}

// changedFields returns the fields of after that differ from before, and, without a value, those of
// before that after does not have.
func changedFields(before, after []Field) []Field {
	var changes []Field
	for _, f := range before {
		if !f.Absent() && !HasField(after, f.Name) {
			changes = append(changes, Field{Name: f.Name, Replaces: f.Replaces})
		}
	}
	for _, f := range after {
		i := slices.IndexFunc(before, func(b Field) bool { return b.Name == f.Name })
		if i < 0 && !f.Absent() || i >= 0 && !before[i].same(f) {
			changes = append(changes, f)
		}
	}
	return changes
}

// SetField sets the value of the field with the given name, if there is one.
func SetField(fs []Field, name string, value []byte) {
	for i := range fs {
		if fs[i].Name == name {
			fs[i].Value, fs[i].From = value, nil
		}
	}
}

// HasField reports whether there is a field with the given name.
func HasField(fs []Field, name string) bool {
	return slices.ContainsFunc(fs, func(f Field) bool { return f.Name == name })
}

// A Layout is an object in pieces, whose concatenation is the object's bytes.
type Layout struct {
	Members []spaced
	close   []byte // from the end of the last member on, including the brace
}

// A spaced is a member with the white space around it.
type spaced struct {
	name              string
	lead, body, trail []byte // trail of the last member is in Layout.close
	value             int    // where the value begins in body
}

// ParseLayout splits an object into pieces.
func ParseLayout(obj []byte) *Layout {
	ms := Members(obj)
	l := Layout{Members: make([]spaced, 0, len(ms)+1)}
	from := 1
	for _, m := range ms {
		trail := SkipSpace(obj, m.End)
		l.Members = append(l.Members, spaced{
			name: m.Name, lead: obj[from:m.Start], body: obj[m.Start:m.End],
			trail: obj[m.End:trail], value: m.At - m.Start,
		})
		from = trail + 1
	}
	l.close = obj[from:]
	if n := len(l.Members); n > 0 {
		l.close = obj[from-1-len(l.Members[n-1].trail):]
		l.Members[n-1].trail = nil
	}
	return &l
}

func (l *Layout) index(name string) int {
	return slices.IndexFunc(l.Members, func(s spaced) bool { return s.name == name })
}

// Remove removes the member, if there is one.
func (l *Layout) Remove(name string) {
	if i := l.index(name); i >= 0 {
		l.Members = slices.Delete(l.Members, i, i+1)
	}
}

// Set sets the value of a member; place returns where to insert a new one.
func (l *Layout) Set(name string, value []byte, place func() int) {
	if i := l.index(name); i >= 0 {
		s := &l.Members[i]
		s.body = slices.Concat(s.body[:s.value], value)
		return
	}
	head := append(Quoted(name), ": "...)
	s := spaced{name: name, body: append(head, value...), value: len(head)}
	if len(l.Members) > 0 {
		s.lead = l.Members[0].lead // formatted like its siblings
	}
	l.Members = slices.Insert(l.Members, place(), s)
}

// place returns where to insert a new member: after the last one that precedes it in order.
func (l *Layout) place(name string, order []Field) int {
	at := 0
	for _, f := range order {
		if f.Name == name {
			break
		}
		at = max(at, l.index(f.Name)+1)
	}
	return at
}

// Bytes joins the pieces. Members that were set are indented for the given depth.
func (l *Layout) Bytes(depth int) []byte {
	n := len("{") + len(l.close) + len(newline(depth))
	for _, s := range l.Members {
		n += len(",") + max(len(s.lead), len(newline(depth+1))) + len(s.body) + len(s.trail)
	}
	b := append(make([]byte, 0, n), '{')
	for i, s := range l.Members {
		if i > 0 {
			b = append(b, ',')
		}
		if s.lead == nil {
			s.lead = []byte(newline(depth + 1))
		}
		b = append(append(append(b, s.lead...), s.body...), s.trail...)
	}
	if len(l.Members) > 0 && l.Members[0].lead == nil {
		b = append(b, newline(depth)...)
	}
	return append(b, l.close...)
}

// WithLast returns an object that has members with a new one at its end, as [Layout.Set] would
// insert it.
func WithLast(obj []byte, name string, value []byte) []byte {
	lead := obj[1:SkipSpace(obj, 1)] // formatted like its siblings
	end := len(obj) - 1
	for SkipSpace(obj, end-1) >= end {
		end--
	}
	out := make([]byte, 0, len(obj)+len(lead)+len(name)+len(value)+len(`,"": `))
	out = append(append(append(out, obj[:end]...), ','), lead...)
	out = append(append(Quote(out, name), ": "...), value...)
	return append(out, obj[end:]...)
}

// Object returns the fields that have a value as a compact object.
func Object(fs []Field) []byte { return AppendObject(nil, fs, Compacted) }

// AppendObject appends the fields that have a value as an object, indented for a depth.
func AppendObject(dst []byte, fs []Field, depth int) []byte {
	dst = append(dst, '{')
	empty := true
	for _, f := range fs {
		if f.Absent() {
			continue
		}
		if !empty {
			dst = append(dst, ',')
		}
		empty = false
		dst = appendMember(dst, f, depth)
	}
	if !empty {
		dst = append(dst, newline(depth)...)
	}
	return append(dst, '}')
}

// AppendMember adds a member to an object that [AppendObject] wrote for the same depth, and that is
// not empty.
func AppendMember(object []byte, f Field, depth int) []byte {
	end := newline(depth) + "}"
	object = append(object[:len(object)-len(end)], ',')
	return append(appendMember(object, f, depth), end...)
}

func appendMember(dst []byte, f Field, depth int) []byte {
	dst = append(Quote(append(dst, newline(deeper(depth))...), f.Name), colon(depth)...)
	return f.append(dst, deeper(depth))
}

// Array returns the items as a compact array.
func Array[T any](items []T, encode func(T) []byte) []byte {
	return AppendArray(nil, items, Compacted, func(dst []byte, item T, _ int) []byte {
		return append(dst, encode(item)...)
	})
}

// AppendArray appends the items as an array, indented for a depth; each appends one item.
func AppendArray[T any](
	dst []byte, items []T, depth int, each func(dst []byte, item T, depth int) []byte,
) []byte {
	dst = append(dst, '[')
	within := deeper(depth)
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = each(append(dst, newline(within)...), item, within)
	}
	if len(items) > 0 {
		dst = append(dst, newline(depth)...)
	}
	return append(dst, ']')
}
