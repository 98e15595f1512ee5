package events

import (
	"math"
	"strconv"
	"time"

	"github.com/git-jp/git-jp/events/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// The methods of this file read one member by its JSON type.

// sub returns a reader of the object that is m's value.
func (r *reader) sub(m jsonspan.Member) (reader, *placedError) {
	if !jsonspan.IsObject(m.Value(r.raw)) {
		return reader{}, errorAt(m.At, "%s: not an object", m.Name)
	}
	return r.objectAt(m.At), nil
}

// objectAt returns a reader of the object that begins at raw[at].
func (r *reader) objectAt(at int) reader {
	before := r.used()
	all, _, _ := jsonspan.MembersAt(r.raw, at, *r.memory)
	*r.memory = all
	return r.within(r.raw, all[before:len(all):len(all)])
}

// used returns how many members are in memory. A caller that reads many objects one after the other
// releases the memory of each with free.
func (r *reader) used() int {
	if r.memory == nil {
		r.memory = new([]jsonspan.Member)
	}
	return len(*r.memory)
}

func (r *reader) free(used int) { *r.memory = (*r.memory)[:used] }

// within returns a reader of a part of r's element.
func (r *reader) within(raw []byte, ms []jsonspan.Member) reader {
	return reader{raw: raw, members: ms, options: r.options, largest: r.largest, memory: r.memory}
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

func (r *reader) required(name string) (jsonspan.Member, *placedError) {
	m, ok := jsonspan.Find(r.members, name)
	if !ok {
		return m, errorAt(r.start(), "no %s", name)
	}
	return m, nil
}

// optional returns the member unless it is absent or null, which mean the same.
func (r *reader) optional(name string) (jsonspan.Member, bool) {
	m, ok := jsonspan.Find(r.members, name)
	return m, ok && !jsonspan.IsNull(m.Value(r.raw))
}

func (r *reader) string(name string) (string, *placedError) {
	m, err := r.required(name)
	if err != nil {
		return "", err
	}
	return r.text(m)
}

// text reads a member that was found.
func (r *reader) text(m jsonspan.Member) (string, *placedError) {
	if !jsonspan.IsString(m.Value(r.raw)) {
		return "", errorAt(m.At, "%s: not a string", m.Name)
	}
	return jsonspan.Text(m.Value(r.raw)), nil
}

// word is string for a member with a small set of values. It does not allocate for values that the
// format defines.
func (r *reader) word(name string) (string, *placedError) {
	m, err := r.required(name)
	if err != nil || !jsonspan.IsString(m.Value(r.raw)) {
		return r.string(name)
	}
	return jsonspan.MemberName(m.Value(r.raw)), nil
}

func (r *reader) optionalString(name string) (string, *placedError) {
	if _, ok := r.optional(name); !ok {
		return "", nil
	}
	return r.string(name)
}

func (r *reader) bool(name string) (bool, *placedError) {
	m, err := r.required(name)
	if err != nil {
		return false, err
	}
	switch string(m.Value(r.raw)) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	default:
		return false, errorAt(m.At, "%s: not a boolean", name)
	}
}

// count reads a number of turns. jp's type holds one bit more than int; a number that uses it can
// only mean all turns.
func (r *reader) count(name string) (int, *placedError) {
	m, err := r.required(name)
	if err != nil {
		return 0, err
	}
	n, bad := strconv.ParseUint(string(m.Value(r.raw)), 10, 64)
	if bad != nil {
		return 0, errorAt(m.At, "%s: %s is not a count", name, printable(string(m.Value(r.raw))))
	}
	return int(min(n, math.MaxInt)), nil
}

// time reads a required timestamp.
func (r *reader) time(name string) (time.Time, *placedError) {
	m, err := r.required(name)
	if err != nil {
		return time.Time{}, err
	}
	if v := m.Value(r.raw); jsonspan.IsString(v) {
		if t, ok := plainTime(v[1 : len(v)-1]); ok {
			return t, nil
		}
	}
	s, err := r.text(m)
	if err != nil {
		return time.Time{}, err
	}
	t, bad := parseTime(s)
	if bad != nil {
		return time.Time{}, errorAt(m.At, "%s: %s is %w", name, printable(s), bad)
	}
	return t, nil
}

func (r *reader) optionalTime(name string) (*time.Time, *placedError) {
	if _, ok := r.optional(name); !ok {
		return nil, nil
	}
	t, err := r.time(name)
	if err != nil {
		return nil, err
	}
	return &t, nil
}

// object returns an optional object, or nil if it is absent.
func (r *reader) object(name string) (jsontext.Value, *placedError) {
	m, ok := r.optional(name)
	if !ok {
		return nil, nil
	}
	if !jsonspan.IsObject(m.Value(r.raw)) {
		return nil, errorAt(m.At, "%s: not an object", name)
	}
	return jsonspan.Compact(m.Value(r.raw)), nil
}

// tagged returns a required object that must have a string member with the name tag.
func (r *reader) tagged(name, tag string) (jsontext.Value, *placedError) {
	m, err := r.required(name)
	if err != nil {
		return nil, err
	}
	sub, err := r.sub(m)
	if err != nil {
		return nil, err
	}
	if _, err := sub.string(tag); err != nil {
		return nil, err.in(name)
	}
	return jsonspan.Compact(m.Value(r.raw)), nil
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
