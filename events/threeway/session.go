package threeway

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"github.com/git-jp/git-jp/events"
)

// A Source says of which agent session a conversation was imported, and how much of it. The zero
// value is of one that was not.
type Source struct {
	Session string
	Version events.ImportVersion
	Rules   string // that redacted it
	Dir     string // in which it ran, below what the importer took for the working tree
	// Rewound are the names of what was rewound in it, by the conversation that has it.
	Rewound map[string][]string
}

// SourceOf reads what the labels of a conversation say.
func SourceOf(d *events.Details) Source {
	session, ok := d.Labels[events.LabelSession]
	version, known := events.ParseImportVersion(d.Labels[events.LabelImport])
	if !ok || !known {
		return Source{}
	}
	return Source{
		Session: session, Version: version, Rules: d.Labels[events.LabelRules],
		Dir: d.Labels[events.LabelDir], Rewound: d.Rewound(),
	}
}

// SourceIn is [SourceOf] for a metadata.json, the zero value where there is none that can be read.
func SourceIn(metadata []byte) Source {
	d, err := events.DecodeDetails(metadata)
	if err != nil {
		return Source{}
	}
	return SourceOf(d)
}

// compare says which of two has more of a source: of a greater importer, else the longer.
func (s Source) compare(o Source) int {
	return cmp.Or(
		cmp.Compare(s.Version.Revision, o.Version.Revision),
		cmp.Compare(s.Version.Length, o.Version.Length),
		cmp.Compare(s.Rules, o.Rules),
		cmp.Compare(s.Dir, o.Dir),
		cmp.Compare(s.Version.Hash, o.Version.Hash),
	)
}

// sameMaker reports whether one importer with one set of rules and one root made both, so that
// they say the same of what both have.
func (s Source) sameMaker(o Source) bool {
	return s.Session == o.Session && s.Version.Revision == o.Version.Revision &&
		s.Rules == o.Rules && s.Dir == o.Dir
}

// ErrSessions is for two conversations of one id that are of different sessions.
var ErrSessions = errors.New("the two sides are of different agent sessions")

// longer returns which side has more of the source that both were imported from. It is inBase
// where there is nothing to choose.
func longer(sides [versions]Side) (int, error) {
	ours, theirs := sides[inOurs].Source, sides[inTheirs].Source
	switch {
	case ours.Session == "" || theirs.Session == "":
		return inBase, nil
	case ours.Session != theirs.Session:
		return inBase, ErrSessions
	}
	switch c := ours.compare(theirs); {
	case c > 0:
		return inOurs, nil
	case c < 0:
		return inTheirs, nil
	}
	return inBase, nil
}

// harmonize lets the side that has more of a source say what the source says: what an event says
// was never changed by a person where one importer made both, and where another one made it, or
// its turn was open, it is the source's to say.
func harmonize(sides [versions]Side) ([versions]Side, error) {
	long, err := longer(sides)
	if err != nil || long == inBase {
		return sides, err
	}
	short := inOurs + inTheirs - long
	// What the shorter one says was taken back, the longer one may say was taken up again.
	sides[inBase].Stream = newTakenBack(sides[short]).without(sides[inBase].Stream)
	back := newTakenBack(sides[long])
	base, all := newSourceIndex(sides[inBase].Stream), newSourceIndex(sides[long].Stream)
	for _, v := range []int{inBase, short} {
		h := harmonizer{all: all, sameMaker: sides[v].Source.sameMaker(sides[long].Source)}
		if v != inBase && sides[inBase].Source.sameMaker(sides[v].Source) {
			h.base = base
		}
		sides[v].Stream = h.stream(back.without(sides[v].Stream))
	}
	return sides, nil
}

// A takenBack knows what a session's person rewound: the import of that made conversations of their
// own of it.
type takenBack struct {
	// only are the names of what the version that says so does not have, and all those of what it
	// has too.
	only, all map[string]bool
}

func newTakenBack(side Side) takenBack {
	back := takenBack{only: map[string]bool{}, all: map[string]bool{}}
	for _, names := range side.Source.Rewound {
		for _, name := range names {
			back.only[name], back.all[name] = true, true
		}
	}
	if len(back.only) == 0 {
		return back
	}
	for _, e := range side.Stream.All() {
		for _, name := range e.RewoundNames() {
			delete(back.only, name)
			back.all[name] = true
		}
	}
	return back
}

// without returns what of a stream was not taken back. A turn to which somebody added, or of which
// they changed or pinned anything, stays whole.
func (back takenBack) without(s *events.Stream) *events.Stream {
	if len(back.only) == 0 {
		return s
	}
	names, turns := make([]string, s.Len()), s.TurnOf()
	stays := map[int]bool{}
	for i, e := range s.All() {
		names[i] = nameOf(e)
		if e.Kind().IsEvent() && e.Kind() != events.KindTurnStart &&
			(!back.all[names[i]] || isPinned(e)) {
			stays[turns[i]] = true
		}
	}
	var out []*events.Element
	for i, e := range s.All() {
		if stays[turns[i]] || !back.only[names[i]] {
			out = append(out, e)
		}
	}
	return events.New(out...)
}

// nameOf returns what an element is known by: what it says, or, where that was redacted and nobody
// changed it since, what its source calls it.
func nameOf(e *events.Element) string {
	return cmp.Or(e.RedactedName(), e.RewoundNames()[0])
}

func isPinned(e *events.Element) bool {
	_, ok := e.Metadata().Value(events.MetadataPrefix + "pin")
	return ok
}

// A sourceKey is what an element of an import is known by in all versions.
type sourceKey struct {
	kind events.Kind
	key  string
}

// sourceKeyOf returns the key of element i. A turn_start has that of what it stands before.
func sourceKeyOf(s *events.Stream, i int) (sourceKey, bool) {
	e := s.At(i)
	at := e
	if e.Kind() == events.KindTurnStart && i+1 < s.Len() {
		at = s.At(i + 1)
	}
	if key, ok := at.Metadata().Text(events.MetadataSource); ok {
		return sourceKey{e.Kind(), key}, true
	}
	if key, ok := events.RecordKey(e); ok {
		return sourceKey{e.Kind(), key}, true
	}
	return sourceKey{}, false
}

type sourceIndex map[sourceKey]*events.Element

func newSourceIndex(s *events.Stream) sourceIndex {
	index := sourceIndex{}
	for i, e := range s.All() {
		if key, ok := sourceKeyOf(s, i); ok && index[key] == nil {
			index[key] = e
		}
	}
	return index
}

// A harmonizer puts the elements of the longer version in the place of those that a shorter one
// has of the same source.
type harmonizer struct {
	all       sourceIndex
	base      sourceIndex // nil where it is unknown what the importer wrote
	sameMaker bool
}

func (h harmonizer) stream(s *events.Stream) *events.Stream {
	var out []*events.Element
	open, changed := false, false
	for i, e := range s.All() {
		if e.Kind() == events.KindTurnStart {
			_, open = e.Metadata().Value(events.MetadataOpen)
		}
		key, ok := sourceKeyOf(s, i)
		if with := h.all[key]; ok && with != nil && h.takes(key, e, with, open) {
			changed = true
			e = with
		}
		out = append(out, e)
	}
	if !changed {
		return s
	}
	return events.New(out...)
}

// takes reports whether with is what the source says in the place of e.
func (h harmonizer) takes(key sourceKey, e, with *events.Element, open bool) bool {
	switch was := h.base[key]; {
	case bytes.Equal(e.Raw(), with.Raw()) || isMarked(e, with):
		return false
	case key.kind == events.KindAgentRecord || events.Equal(e, with):
		return true
	case was != nil && !events.Equal(was, e):
		return false // somebody changed it here
	default:
		return open || !h.sameMaker
	}
}

// isMarked reports whether an event has annotations of ours that the source's does not have: a
// person's pin, what compaction noted.
func isMarked(e, source *events.Element) bool {
	for _, key := range e.Metadata().Keys() {
		_, both := source.Metadata().Value(key)
		if !both && !slices.Contains(importedKeys, key) {
			return true
		}
	}
	return false
}

// importedKeys are those that an import writes and a later one may take back.
var importedKeys = []string{events.MetadataOpen, events.MetadataPrefix + "usage"}
