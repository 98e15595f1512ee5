package events

import (
	"math"
	"strconv"
	"time"

	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// The methods of this file read one member by its JSON type.

// sub returns a reader of the object that is m's value.
func (r *reader) sub(m jsonspan.Member) reader {
	if !jsonspan.IsObject(m.Value(r.raw)) {
		r.fail(m.At, "%s: not an object", m.Name)
		return reader{r.raw, nil, r.reading}
	}
	return r.objectAt(m.At)
}

// objectAt returns a reader of the object that begins at raw[at].
func (r *reader) objectAt(at int) reader {
	before := len(r.memory)
	all, _, _ := jsonspan.MembersAt(r.raw, at, r.memory)
	r.memory = all
	return reader{r.raw, all[before:len(all):len(all)], r.reading}
}

// beside returns a reader of JSON that is another form of a part of r's element. Its faults are not
// those of the element.
func (r *reader) beside(raw []byte) reader {
	return reader{raw, nil, &reading{options: r.options, largest: r.largest}}
}

// check checks the size of content against the limits.
func (r *reader) check(size int64) error {
	if r.largest != nil {
		*r.largest = max(*r.largest, size)
	}
	return r.options.check(size)
}

// start returns the offset at which the reader's object begins, for errors about missing members.
func (r *reader) start() int {
	if len(r.members) == 0 {
		return 0
	}
	return r.members[0].Start
}

func (r *reader) required(name string) jsonspan.Member {
	m, ok := jsonspan.Find(r.members, name)
	if !ok {
		r.fail(r.start(), "no %s", name)
	}
	return m
}

// optional returns the member unless it is absent or null, which mean the same.
func (r *reader) optional(name string) (jsonspan.Member, bool) {
	m, ok := jsonspan.Find(r.members, name)
	return m, ok && !jsonspan.IsNull(m.Value(r.raw))
}

func (r *reader) string(name string) string { return r.text(r.required(name)) }

// text reads a member that was found.
func (r *reader) text(m jsonspan.Member) string {
	if !jsonspan.IsString(m.Value(r.raw)) {
		r.fail(m.At, "%s: not a string", m.Name)
		return ""
	}
	return jsonspan.Text(m.Value(r.raw))
}

// maybe returns the member if it is a string.
func (r *reader) maybe(name string) (string, bool) {
	m, ok := jsonspan.Find(r.members, name)
	if !ok || !jsonspan.IsString(m.Value(r.raw)) {
		return "", false
	}
	return jsonspan.Text(m.Value(r.raw)), true
}

// word is string for a member with a small set of values. It does not allocate for values that the
// format defines.
func (r *reader) word(name string) string {
	m := r.required(name)
	if !jsonspan.IsString(m.Value(r.raw)) {
		return r.text(m)
	}
	return jsonspan.MemberName(m.Value(r.raw))
}

func (r *reader) optionalString(name string) string {
	m, ok := r.optional(name)
	if !ok {
		return ""
	}
	return r.text(m)
}

func (r *reader) bool(name string) bool {
	m := r.required(name)
	v := string(m.Value(r.raw))
	if v != "true" && v != "false" {
		r.fail(m.At, "%s: not a boolean", name)
	}
	return v == "true"
}

// count reads a number of turns. jp's type holds one bit more than int; a number that uses it can
// only mean all turns.
func (r *reader) count(name string) int {
	m := r.required(name)
	n, bad := strconv.ParseUint(string(m.Value(r.raw)), 10, 64)
	if bad != nil {
		r.fail(m.At, "%s: %s is not a count", name, printable(string(m.Value(r.raw))))
	}
	return int(min(n, math.MaxInt))
}

// time reads a required timestamp.
func (r *reader) time(name string) time.Time {
	m := r.required(name)
	if v := m.Value(r.raw); jsonspan.IsString(v) {
		if t, ok := plainTime(v[1 : len(v)-1]); ok {
			return t
		}
	}
	s := r.text(m)
	t, bad := parseTime(s)
	if bad != nil {
		r.fail(m.At, "%s: %s is %w", name, printable(s), bad)
		return time.Time{}
	}
	return t
}

func (r *reader) optionalTime(name string) *time.Time {
	if _, ok := r.optional(name); !ok {
		return nil
	}
	return new(r.time(name))
}

// object returns an optional object, or nil if it is absent.
func (r *reader) object(name string) jsontext.Value {
	m, ok := r.optional(name)
	if !ok {
		return nil
	}
	if !jsonspan.IsObject(m.Value(r.raw)) {
		r.fail(m.At, "%s: not an object", name)
	}
	return jsonspan.Compact(m.Value(r.raw))
}

// tagged returns a required object that must have a string member with the name tag.
func (r *reader) tagged(name, tag string) jsontext.Value {
	m := r.required(name)
	sub := r.sub(m)
	r.in(name, func() { sub.string(tag) })
	return jsonspan.Compact(m.Value(r.raw))
}

// has returns the members that are present under the given names, and their number. A name "" is
// ignored.
func (r *reader) has(names [3]string) (found [3]jsonspan.Member, n int) {
	for _, name := range names {
		if m, ok := jsonspan.Find(r.members, name); ok && name != "" {
			found[n] = m
			n++
		}
	}
	return found, n
}
