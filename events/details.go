package events

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// Details holds the content of a conversation's metadata.json. Its fields may be changed; unknown
// members are kept. Bytes of a title or label that are not UTF-8 are written as U+FFFD: a bad name
// is no reason to refuse to save a conversation.
type Details struct {
	Title           *string // nil when there is none
	LastActivatedAt time.Time
	PinnedAt        *time.Time
	ArchivedAt      *time.Time
	ExpiresAt       *time.Time
	Labels          map[string]string

	raw    []byte // the object as it was read, with changes of unknown members
	before []byte // the bytes before it in the file, and after
	after  []byte
}

// DecodeDetails reads a metadata.json. It keeps data, which must not be changed
// afterwards. The error is a [*SyntaxError].
func DecodeDetails(data []byte) (*Details, error) {
	if err := validJSON(data, '{'); err != nil {
		return nil, err
	}
	at := jsonspan.SkipSpace(data, 0)
	ms, end, depth := jsonspan.MembersAt(data, at, nil)
	if depth > MaxDepth {
		return nil, &SyntaxError{Element: -1, Offset: int64(at), Err: ErrTooDeep}
	}
	d := &Details{
		raw: data[at:end:end], before: data[:at:at], after: data[end:],
	}
	r := &reader{data, ms, &reading{}}
	if d.read(r); r.err != nil {
		return nil, &SyntaxError{Element: -1, Offset: int64(r.err.offset), Err: r.err.err}
	}
	return d, nil
}

// Name returns the title, "" if there is none, or no metadata that could be read.
func (d *Details) Name() string {
	if d == nil || d.Title == nil {
		return ""
	}
	return *d.Title
}

func (d *Details) read(r *reader) {
	if m, ok := r.optional("title"); ok {
		d.Title = new(r.text(m))
	}
	d.LastActivatedAt = r.time("last_activated_at")
	d.PinnedAt = r.optionalTime("pinned_at")
	d.ArchivedAt = r.optionalTime("archived_at")
	d.ExpiresAt = r.optionalTime("expires_at")
	d.Labels = r.labels()
}

func (r *reader) labels() map[string]string {
	m, ok := jsonspan.Find(r.members, "labels")
	if !ok {
		return nil
	}
	sub := r.sub(m)
	labels := make(map[string]string, len(sub.members))
	r.in(m.Name, func() {
		for _, l := range sub.members {
			labels[l.Name] = sub.text(l)
		}
	})
	return labels
}

// Encode returns the file. Unchanged members keep their bytes, so unchanged details encode to the
// file they were read from.
func (d *Details) Encode() []byte {
	if d.raw == nil {
		return d.Canonical()
	}
	old, err := DecodeDetails(d.raw)
	if err != nil {
		return d.Canonical() // unreachable: it was read before
	}
	return slices.Concat(d.before, jsonspan.Splice(d.raw, old.fields(), d.fields(), 0), d.after)
}

// Canonical returns the file as today's jp would write it, without unknown members.
func (d *Details) Canonical() []byte {
	return append(jsonspan.Indented(jsonspan.Object(d.fields()), 0), '\n')
}

func (d *Details) fields() []jsonspan.Field {
	fs := []jsonspan.Field{
		{Name: "title"},
		{Name: "last_activated_at", From: timeSource(d.LastActivatedAt)},
		optionalTime("pinned_at", d.PinnedAt),
		optionalTime("archived_at", d.ArchivedAt),
		optionalTime("expires_at", d.ExpiresAt),
		{Name: "labels"},
	}
	if d.Title != nil {
		fs[0].From = textSource(inUTF8(*d.Title))
	}
	if len(d.Labels) > 0 {
		var labels []jsonspan.Field
		for _, key := range slices.Sorted(maps.Keys(d.Labels)) {
			labels = append(labels, stringField(inUTF8(key), inUTF8(d.Labels[key])))
		}
		fs[5].Value = jsonspan.Object(labels)
	}
	return fs
}

func optionalTime(name string, t *time.Time) jsonspan.Field {
	if t == nil {
		return jsonspan.Field{Name: name}
	}
	return jsonspan.Field{Name: name, From: timeSource(*t)}
}

// Keys returns the names of the unknown members, in order.
func (d *Details) Keys() []string {
	var keys []string
	if d.raw == nil {
		return nil
	}
	for _, m := range jsonspan.Members(d.raw) {
		if !jsonspan.HasField(d.fields(), m.Name) {
			keys = append(keys, m.Name)
		}
	}
	return keys
}

// Value returns the value of an unknown member. Known members are fields of Details.
func (d *Details) Value(key string) (jsontext.Value, bool) {
	if jsonspan.HasField(d.fields(), key) {
		return nil, false
	}
	v := jsonspan.MemberOf(d.raw, key)
	return bytes.Clone(v), v != nil
}

// SetValue sets an unknown member; a nil value removes it. A new one comes after those that sort
// before it, so that the file does not depend on which was set first.
func (d *Details) SetValue(key string, v jsontext.Value) error {
	if jsonspan.HasField(d.fields(), key) {
		return errors.New("set " + printable(key) + ": it has a field of its own")
	}
	if !utf8.ValidString(key) {
		return errors.New("set " + printable(key) + ": the name is not UTF-8")
	}
	if v != nil && !v.IsValid() {
		return errors.New("set " + printable(key) + ": the value is not JSON")
	}
	if d.raw == nil {
		d.raw = bytes.TrimSuffix(d.Canonical(), []byte("\n"))
		d.after = []byte("\n")
	}
	before := d.fields()
	for _, m := range jsonspan.Members(d.raw) {
		if m.Name < key && !jsonspan.HasField(before, m.Name) {
			before = append(before, optionalJSON(m.Name, jsonspan.MemberOf(d.raw, m.Name)))
		}
	}
	after := append(slices.Clone(before), optionalJSON(key, v))
	before = append(before, optionalJSON(key, jsonspan.MemberOf(d.raw, key)))
	d.raw = jsonspan.Splice(d.raw, before, after, 0)
	return nil
}

// Clone returns a copy that can be changed without changing d.
func (d *Details) Clone() *Details {
	c := *d
	c.Title = clone(d.Title)
	c.PinnedAt, c.ArchivedAt = clone(d.PinnedAt), clone(d.ArchivedAt)
	c.ExpiresAt, c.Labels = clone(d.ExpiresAt), maps.Clone(d.Labels)
	return &c
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}
