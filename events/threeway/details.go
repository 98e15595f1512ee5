package threeway

import (
	"fmt"
	"slices"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// Metadata merges three versions of a metadata.json, where nil is a missing file. There are no
// conflicts. The later of two times is taken. Other values are taken from the only side that
// changed them, or from the side that was active later if both did.
//
// If one side equals base, the result is the other side, byte for byte.
func Metadata(base, ours, theirs []byte) ([]byte, error) {
	var in [versions]*events.Details
	for i, data := range [versions][]byte{base, ours, theirs} {
		if data == nil {
			continue
		}
		d, err := events.DecodeDetails(data)
		if err != nil {
			return nil, fmt.Errorf("metadata of %s: %w", versionName(i), err)
		}
		in[i] = d
	}
	switch b, o, t := string(base), string(ours), string(theirs); {
	case ours == nil || base != nil && b == o:
		return theirs, nil
	case theirs == nil || o == t || base != nil && b == t:
		return ours, nil
	}
	if in[inBase] == nil {
		in[inBase] = &events.Details{}
	}
	return mergeDetails(in[inBase], in[inOurs], in[inTheirs]), nil
}

// mergeDetails merges details member by member.
func mergeDetails(base, ours, theirs *events.Details) []byte {
	o, t := AgreedDetails(ours, theirs)
	if o != ours {
		goBack(base, ours, theirs, o, t)
	}
	ours, theirs = o, t
	m := &detailsMerger{later: ours.LastActivatedAt.After(theirs.LastActivatedAt)}
	m.tie = ours.LastActivatedAt.Equal(theirs.LastActivatedAt)
	out := &events.Details{
		Title:           chooseBy(m, base.Title, ours.Title, theirs.Title),
		LastActivatedAt: *laterTime(&ours.LastActivatedAt, &theirs.LastActivatedAt),
		PinnedAt:        chooseBy(m, base.PinnedAt, ours.PinnedAt, theirs.PinnedAt),
		ArchivedAt:      mergeTime(base.ArchivedAt, ours.ArchivedAt, theirs.ArchivedAt),
		ExpiresAt:       mergeTime(base.ExpiresAt, ours.ExpiresAt, theirs.ExpiresAt),
		Labels:          map[string]string{},
	}
	for _, d := range []*events.Details{base, ours, theirs} {
		for key := range d.Labels {
			l := chooseBy(m, label(base, key), label(ours, key), label(theirs, key))
			if l != nil {
				out.Labels[key] = *l
			}
		}
	}
	var keys []string
	for _, d := range []*events.Details{base, ours, theirs} {
		keys = append(keys, d.Keys()...)
	}
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		v := chooseBy(m, unknown(base, key), unknown(ours, key), unknown(theirs, key))
		if v != nil {
			_ = out.SetValue(key, jsontext.Value(*v)) // valid: it was read from a file
		}
	}
	return out.Encode()
}

// AgreedDetails returns copies of two details that agree on what describes a session, if both were
// imported from it or agents continued either conversation in it: how much was imported, the turns
// that imports added and the rewound elements. [Metadata] compares these, and so does whoever
// counts what a merge lost.
func AgreedDetails(ours, theirs *events.Details) (o, t *events.Details) {
	a, b := SourceOf(ours), SourceOf(theirs)
	var imported []string
	long := longerOf(ours, theirs)
	switch {
	case long != nil:
		imported = slices.Concat(
			long.ImportedTurns(), long.NotRewound(ours), long.NotRewound(theirs))
	case len(a.Resumed)+len(b.Resumed) > 0:
		imported = slices.Concat(ours.ImportedTurns(), theirs.ImportedTurns())
		slices.Sort(imported)
	default:
		return ours, theirs
	}
	o, t = ours.Clone(), theirs.Clone()
	for _, d := range []*events.Details{o, t} {
		_ = d.SetRewound(rewoundBy(a, b)) // valid: they were read from files
		_ = d.SetImportedTurns(imported)
		for session, v := range a.Resumed {
			if w, both := b.Resumed[session]; both {
				d.SetResumed(session, longest(v, w))
			}
		}
		if long != nil {
			setSource(d, long)
		}
	}
	switch { // a title that a person set wins over one that an import set
	case long == nil:
	case ours.IsTitled() && !theirs.IsTitled():
		t.Title = o.Title
	case theirs.IsTitled() && !ours.IsTitled():
		o.Title = t.Title
	}
	return o, t
}

func longest(v, w events.ImportVersion) events.ImportVersion {
	if v.Compare(w) < 0 {
		return w
	}
	return v
}

// setSource sets the labels that describe the source to those of the side that has more of it.
func setSource(d, long *events.Details) {
	for _, label := range []string{events.LabelRules, events.LabelDir} {
		delete(d.Labels, label)
		if value, ok := long.Labels[label]; ok {
			d.Labels[label] = value
		}
	}
	d.Labels[events.LabelImport] = SourceOf(long).Version.String()
}

// longerOf returns the side that has more of the session from which both were imported, or nil if
// their sessions differ.
func longerOf(ours, theirs *events.Details) *events.Details {
	o, t := SourceOf(ours), SourceOf(theirs)
	switch {
	case o.Session == "" || o.Session != t.Session:
		return nil
	case o.compare(t) < 0:
		return theirs
	}
	return ours
}

// A detailsMerger knows which side was active later.
type detailsMerger struct{ later, tie bool }

// chooseBy merges a member; nil is an absent one.
func chooseBy[T interface{ string | time.Time }](m *detailsMerger, base, ours, theirs *T) *T {
	same := func(a, b *T) bool { return a == b || a != nil && b != nil && spelled(a) == spelled(b) }
	return choose(base, ours, theirs, same, func(o, t *T) *T {
		if m.tie && spelled(o) > spelled(t) || !m.tie && m.later {
			return o
		}
		return t
	})
}

// spelled returns a value as text, for comparison.
func spelled[T interface{ string | time.Time }](v *T) string {
	if v == nil {
		return ""
	}
	switch v := any(*v).(type) {
	case time.Time:
		return v.UTC().Format("2006-01-02T15:04:05.000000000")
	case string:
		return "=" + v
	}
	return ""
}

func label(d *events.Details, key string) *string {
	if l, ok := d.Labels[key]; ok {
		return &l
	}
	return nil
}

// unknown returns a member that is not a field, in a form that is the same for equal values.
func unknown(d *events.Details, key string) *string {
	v, ok := d.Value(key)
	if !ok {
		return nil
	}
	return new(string(jsonspan.Compact(v)))
}

// mergeTime merges a time that may be absent.
func mergeTime(base, ours, theirs *time.Time) *time.Time {
	same := func(a, b *time.Time) bool { return a == b || a != nil && b != nil && a.Equal(*b) }
	return choose(base, ours, theirs, same, laterTime)
}

func laterTime(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.After(*a) {
		return b
	}
	return a
}
