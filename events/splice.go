package events

import (
	"bytes"
	"slices"
)

// A field is a member as the codec would write it: its name, and its compact value or
// the source of that. It has neither when the member is absent.
type field struct {
	name  string
	value []byte
	from  source
	// replaces names other forms of the same thing, such as the bare "text" that
	// MCP has instead of "content". They go when the field changes.
	replaces []string
}

func (f field) absent() bool { return f.value == nil && f.from == nil }

// encode returns the compact value, nil when the member is absent.
func (f field) encode() []byte {
	if f.from != nil {
		return f.from.encode()
	}
	return f.value
}

// same tells an absent value from all others.
func (f field) same(g field) bool {
	if f.from != nil && g.from != nil {
		return f.from.same(g.from)
	}
	return f.absent() == g.absent() && bytes.Equal(f.encode(), g.encode())
}

// splice returns the object raw with those members changed in which after differs
// from before. All other bytes stay, also members that neither knows. The order of
// after is where new members go; depth is that of the object in a canonical file.
func splice(raw []byte, before, after []field, depth int) []byte {
	changes := changedFields(before, after)
	if len(changes) == 0 {
		return raw
	}
	l := parseLayout(raw)
	for _, f := range changes {
		for _, name := range f.replaces {
			l.remove(name)
		}
		if f.absent() {
			l.remove(f.name)
			continue
		}
		l.set(f.name, indented(f.encode(), depth+1), func() int {
			return l.place(f.name, after)
		})
	}
	return l.bytes(depth)
}

// changedFields returns the fields of after that differ from before, and without a
// value those that after has no more.
func changedFields(before, after []field) []field {
	var changes []field
	for _, f := range before {
		if !f.absent() && !hasField(after, f.name) {
			changes = append(changes, field{name: f.name, replaces: f.replaces})
		}
	}
	for _, f := range after {
		i := slices.IndexFunc(before, func(b field) bool { return b.name == f.name })
		if i < 0 && !f.absent() || i >= 0 && !before[i].same(f) {
			changes = append(changes, f)
		}
	}
	return changes
}

// setField gives the field a value, if there is such a field.
func setField(fs []field, name string, value []byte) {
	for i := range fs {
		if fs[i].name == name {
			fs[i].value, fs[i].from = value, nil
		}
	}
}

func hasField(fs []field, name string) bool {
	return slices.ContainsFunc(fs, func(f field) bool { return f.name == name })
}

// A layout is an object in pieces that give its bytes when joined.
type layout struct {
	members []spaced
	close   []byte // from the last member on, with the brace
}

// A spaced is a member with the white space around it.
type spaced struct {
	name              string
	lead, body, trail []byte // trail of the last member is in layout.close
	value             int    // where the value begins in body
}

func parseLayout(obj []byte) *layout {
	ms := members(obj)
	l := layout{members: make([]spaced, 0, len(ms)+1)}
	from := 1
	for _, m := range ms {
		trail := skipSpace(obj, m.end)
		l.members = append(l.members, spaced{
			name: m.name, lead: obj[from:m.start], body: obj[m.start:m.end],
			trail: obj[m.end:trail], value: m.at - m.start,
		})
		from = trail + 1
	}
	l.close = obj[from:]
	if n := len(l.members); n > 0 {
		l.close = obj[from-1-len(l.members[n-1].trail):]
		l.members[n-1].trail = nil
	}
	return &l
}

func (l *layout) index(name string) int {
	return slices.IndexFunc(l.members, func(s spaced) bool { return s.name == name })
}

func (l *layout) remove(name string) {
	if i := l.index(name); i >= 0 {
		l.members = slices.Delete(l.members, i, i+1)
	}
}

// set gives the member a value; place says where to insert one that is not there.
func (l *layout) set(name string, value []byte, place func() int) {
	if i := l.index(name); i >= 0 {
		s := &l.members[i]
		s.body = slices.Concat(s.body[:s.value], value)
		return
	}
	head := append(quoted(name), ": "...)
	s := spaced{name: name, body: append(head, value...), value: len(head)}
	if len(l.members) > 0 {
		s.lead = l.members[0].lead // as its siblings stand
	}
	l.members = slices.Insert(l.members, place(), s)
}

// place returns where a new member goes: behind the last one that precedes it in
// order.
func (l *layout) place(name string, order []field) int {
	at := 0
	for _, f := range order {
		if f.name == name {
			break
		}
		at = max(at, l.index(f.name)+1)
	}
	return at
}

func (l *layout) bytes(depth int) []byte {
	n := len("{") + len(l.close) + len(newline(depth))
	for _, s := range l.members {
		n += len(",") + max(len(s.lead), len(newline(depth+1))) + len(s.body) + len(s.trail)
	}
	b := append(make([]byte, 0, n), '{')
	for i, s := range l.members {
		if i > 0 {
			b = append(b, ',')
		}
		if s.lead == nil {
			s.lead = newline(depth + 1)
		}
		b = append(append(append(b, s.lead...), s.body...), s.trail...)
	}
	if len(l.members) > 0 && l.members[0].lead == nil {
		b = append(b, newline(depth)...)
	}
	return append(b, l.close...)
}

// object returns the members that have a value as a compact object.
func object(fs []field) []byte {
	b := []byte{'{'}
	for _, f := range fs {
		if f.absent() {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(quote(b, f.name), ':'), f.encode()...)
	}
	return append(b, '}')
}

// array returns the items as a compact array.
func array[T any](items []T, encode func(T) []byte) []byte {
	b := []byte{'['}
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, encode(item)...)
	}
	return append(b, ']')
}
