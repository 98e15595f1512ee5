package threeway

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
)

// A Source says of which agent session a conversation was imported, and how much of it. The zero
// value is of one that was not.
type Source struct {
	Session string
	Version events.ImportVersion
	Rules   string // that redacted it
	Dir     string // in which it ran, below what the importer took for the working tree
	// Resumed says how much is in of the sessions in which agents went on with the conversation.
	Resumed map[string]events.ImportVersion
	// Rewound are the names of what was rewound in any of them, by the conversation that has it.
	Rewound map[string][]string
}

// SourceOf reads what the labels of a conversation say.
func SourceOf(d *events.Details) Source {
	session, ok := d.Labels[events.LabelSession]
	version, known := events.ParseImportVersion(d.Labels[events.LabelImport])
	s := Source{Resumed: d.Resumed(), Rewound: d.Rewound()}
	if ok && known {
		s.Session, s.Version = session, version
		s.Rules, s.Dir = d.Labels[events.LabelRules], d.Labels[events.LabelDir]
	}
	return s
}

// with returns what is known of the sources of a merge of two.
func (s Source) with(o Source) Source {
	if s.compare(o) < 0 {
		s, o = o, s
	}
	for session, v := range o.Resumed {
		if was, ok := s.Resumed[session]; !ok || was.Compare(v) < 0 {
			s.Resumed = maps.Clone(s.Resumed)
			if s.Resumed == nil {
				s.Resumed = map[string]events.ImportVersion{}
			}
			s.Resumed[session] = v
		}
	}
	s.Rewound = rewoundBy(s, o)
	return s
}

// rewoundBy returns what two versions of a conversation say was rewound in its sessions: the one
// that has more of a session says it.
func rewoundBy(a, b Source) map[string][]string {
	all := map[string][]string{}
	for _, of := range [2][2]Source{{a, b}, {b, a}} {
		for fork, names := range of[0].Rewound {
			session, _, _ := strings.Cut(fork, "@")
			if c, both := of[0].compareIn(session, of[1]); !both || c >= 0 {
				all[fork] = names
			}
		}
	}
	return all
}

// compareIn says which of two has more of a session, where both have some of it.
func (s Source) compareIn(session string, o Source) (c int, both bool) {
	if s.Session == session && o.Session == session {
		return s.compare(o), true
	}
	v, ok := s.Resumed[session]
	w, too := o.Resumed[session]
	return v.Compare(w), ok && too
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
// its turn was open, it is the source's to say. So it is with each session in which an agent went
// on behind an export.
func harmonize(sides [versions]Side) ([versions]Side, error) {
	long, err := longer(sides)
	if err != nil {
		return sides, err
	}
	if long != inBase {
		sides = telling{sides[long].Source.Session, "", long, Source.sameMaker}.harmonize(sides)
	}
	ours, theirs := sides[inOurs].Source, sides[inTheirs].Source
	for _, session := range slices.Sorted(maps.Keys(ours.Resumed)) {
		long := inTheirs
		switch c, both := ours.compareIn(session, theirs); {
		case !both || c == 0:
			continue
		case c > 0:
			long = inOurs
		}
		sides = telling{session, session, long, func(s, o Source) bool {
			return s.Resumed[session].Revision == o.Resumed[session].Revision
		}}.harmonize(sides)
	}
	return sides, nil
}

// A telling is a session of which one side has more.
type telling struct {
	session   string
	resumed   string // the session, where an agent went on in it behind an export
	long      int
	sameMaker func(s, o Source) bool
}

func (t telling) harmonize(sides [versions]Side) [versions]Side {
	short := inOurs + inTheirs - t.long
	// What the shorter one says was taken back, the longer one may say was taken up again.
	sides[inBase].Stream = newTakenBack(sides[short], t.session).without(sides[inBase].Stream)
	back := newTakenBack(sides[t.long], t.session)
	base := newSourceIndex(sides[inBase], t.resumed)
	all := newSourceIndex(sides[t.long], t.resumed)
	for _, v := range []int{inBase, short} {
		h := harmonizer{
			all: all, sameMaker: t.sameMaker(sides[v].Source, sides[t.long].Source),
		}
		if v != inBase && t.sameMaker(sides[inBase].Source, sides[v].Source) {
			h.base = base
		}
		sides[v].Stream = h.stream(back.without(sides[v].Stream))
	}
	return sides
}

// A takenBack knows what a session's person rewound: the import of that made conversations of their
// own of it.
type takenBack struct {
	// only are the names of what the version that says so does not have, and all those of what it
	// has too.
	only, all map[string]bool
}

func newTakenBack(side Side, session string) takenBack {
	back := takenBack{only: map[string]bool{}, all: map[string]bool{}}
	for fork, names := range side.Source.Rewound {
		if in, _, _ := strings.Cut(fork, "@"); in != session {
			continue
		}
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
	if key, ok := e.RecordKey(); ok {
		return sourceKey{e.Kind(), key}, true
	}
	return sourceKey{}, false
}

type sourceIndex map[sourceKey]*events.Element

// newSourceIndex returns what a version has of a session in which an agent went on with it, "" for
// that of which it was imported.
func newSourceIndex(side Side, resumed string) sourceIndex {
	s := side.Stream
	index, said := sourceIndex{}, s.SessionOf(side.Source.Resumed)
	for i, e := range s.All() {
		if key, ok := sourceKeyOf(s, i); ok && said[i] == resumed && index[key] == nil {
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
