package threeway

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// A Source identifies the agent session from which a conversation was imported, and how much of it
// was. The zero value is for a conversation that was not imported.
type Source struct {
	Session string
	Version events.ImportVersion
	Rules   string // secret rules that redacted it
	Dir     string // directory in which the agent ran, below the importer's working tree
	// Resumed records how much was imported of each session in which an agent continued the
	// conversation.
	Resumed map[string]events.ImportVersion
	// Rewound names the elements that were rewound in any of them, by the conversation that now
	// holds it.
	Rewound map[string][]string
	// Imported names the turns that imports brought, with those that were removed since.
	Imported []string
}

// SourceOf returns the source that the labels of a conversation describe.
func SourceOf(d *events.Details) Source {
	session, ok := d.Labels[events.LabelSession]
	version, known := events.ParseImportVersion(d.Labels[events.LabelImport])
	s := Source{Resumed: d.Resumed(), Rewound: d.Rewound(), Imported: d.ImportedTurns()}
	if ok && known {
		s.Session, s.Version = session, version
		s.Rules, s.Dir = d.Labels[events.LabelRules], d.Labels[events.LabelDir]
	}
	return s
}

// with returns the source of a merge of two versions.
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

// rewoundBy merges what two versions record as rewound in their sessions: the version that has more
// of a session decides.
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

// compareIn compares how much two versions have of a session. both reports whether both have some.
func (s Source) compareIn(session string, o Source) (c int, both bool) {
	if s.Session == session && o.Session == session {
		return s.compare(o), true
	}
	v, ok := s.Resumed[session]
	w, too := o.Resumed[session]
	return v.Compare(w), ok && too
}

// SourceIn is [SourceOf] for a metadata.json. It returns the zero value if that cannot be read.
func SourceIn(metadata []byte) Source {
	d, err := events.DecodeDetails(metadata)
	if err != nil {
		return Source{}
	}
	return SourceOf(d)
}

// compare compares how much two versions have of a source: by revision of the importer, then by
// length.
func (s Source) compare(o Source) int {
	return cmp.Or(
		cmp.Compare(s.Version.Revision, o.Version.Revision),
		cmp.Compare(s.Version.Length, o.Version.Length),
		cmp.Compare(s.Rules, o.Rules),
		cmp.Compare(s.Dir, o.Dir),
		cmp.Compare(s.Version.Hash, o.Version.Hash),
	)
}

// sameMaker reports whether the same importer with the same rules and root wrote both, so that they
// agree on everything that both have.
func (s Source) sameMaker(o Source) bool {
	return s.Session == o.Session && s.Version.Revision == o.Version.Revision &&
		s.Rules == o.Rules && s.Dir == o.Dir
}

// ErrSessions reports two conversations with the same id from different sessions.
var ErrSessions = errors.New("the two sides are of different agent sessions")

// longer returns the side that has more of the source from which both were imported, or inBase if
// there is none to prefer.
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

// Agreed returns three versions as [Merge] compares them. Where a session decides what an import
// wrote, they agree: both sides and base have what the side says that has more of the session, and
// lack what was rewound in it. Whoever counts what a merge lost counts these, since the merge
// replaced the rest on purpose, see [Replaced]. Elements that it leaves out are those that
// Source.Rewound names.
func Agreed(base, ours, theirs Side) (b, o, t Side, err error) {
	sides := whole(base, ours, theirs)
	if unchanged(sides) == nil {
		sides, err = harmonize(sides)
	}
	return sides[inBase], sides[inOurs], sides[inTheirs], err
}

// Replaced returns the elements of a version that [Agreed] replaced by what the other side has for
// the same part of the source, with these.
func Replaced(version, agreed *events.Stream) map[*events.Element]*events.Element {
	kept, index := map[*events.Element]bool{}, sourceIndex{}
	keys := sourceKeysOf(agreed)
	for i, e := range agreed.All() {
		kept[e] = true
		if index[keys[i]] == nil {
			index[keys[i]] = e
		}
	}
	replaced := map[*events.Element]*events.Element{}
	keys = sourceKeysOf(version)
	for i, e := range version.All() {
		if with := index[keys[i]]; with != nil && keys[i] != (sourceKey{}) && !kept[e] {
			replaced[e] = with
		}
	}
	return replaced
}

// harmonize replaces events of an import by those of the side that has more of the session, where
// the source decides: events of a turn that was still open, and events that another revision, other
// rules or another root of the importer wrote. An event that a person changed is kept; if the same
// importer wrote both sides, any difference in a complete turn was made by a person. The same
// applies to each session in which an agent continued an export.
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

// A telling is a session that one side has more of.
type telling struct {
	session   string
	resumed   string // the session, if an agent continued an export in it
	long      int
	sameMaker func(s, o Source) bool
}

func (t telling) harmonize(sides [versions]Side) [versions]Side {
	short := inOurs + inTheirs - t.long
	sides[inBase].Stream = t.imported(sides[inBase], sides[short])
	// The longer version may have resumed elements that the shorter one records as rewound.
	sides[inBase].Stream = newTakenBack(sides[short], t.session).without(sides[inBase].Stream, true)
	back := newTakenBack(sides[t.long], t.session)
	was := newSourceIndex(sides[inBase], t.resumed)
	all := newSourceIndex(sides[t.long], t.resumed)
	for _, v := range []int{inBase, short} {
		h := harmonizer{
			all: all, sameMaker: t.sameMaker(sides[v].Source, sides[t.long].Source),
		}
		if v != inBase {
			h.was, h.is = was, newSourceIndex(sides[inBase], t.resumed)
			h.madeBase = t.sameMaker(sides[inBase].Source, sides[v].Source)
			h.newerRules = sides[v].Source.Rules > sides[t.long].Source.Rules
		}
		sides[v].Stream = h.stream(back.without(sides[v].Stream, v == inBase))
	}
	return sides
}

// A takenBack knows the elements that the user of a session rewound. The import moved them to
// conversations of their own.
type takenBack struct {
	// only holds the names of rewound elements that the version no longer has, all also the names
	// of everything that it has.
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

// without returns the stream without the rewound elements. A turn to which a person added anything,
// or in which they changed or pinned something, is kept completely. Base loses all records of a
// rewound turn: in another turn they have the keys of other records, which would count as removed.
// A turn_start goes with the events of its turn: that of another turn may have its time.
func (back takenBack) without(s *events.Stream, isBase bool) *events.Stream {
	if len(back.only) == 0 {
		return s
	}
	names, turns := make([]string, s.Len()), s.TurnOf()
	stays, gone, left := map[int]bool{}, map[int]bool{}, map[int]bool{}
	said := func(e *events.Element) bool {
		return e.Kind().IsEvent() && e.Kind() != events.KindTurnStart
	}
	for i, e := range s.All() {
		names[i] = nameOf(e)
		if !said(e) {
			continue
		}
		is := back.only[names[i]]
		stays[turns[i]] = stays[turns[i]] || !back.all[names[i]] || isPinned(e)
		gone[turns[i]], left[turns[i]] = gone[turns[i]] || is, left[turns[i]] || !is
	}
	var out []*events.Element
	for i, e := range s.All() {
		turn := turns[i]
		isGone := back.only[names[i]] ||
			isBase && gone[turn] && e.Kind() == events.KindAgentRecord
		if e.Kind() == events.KindTurnStart && (gone[turn] || left[turn]) {
			isGone = !left[turn]
		}
		if stays[turn] || !isGone {
			out = append(out, e)
		}
	}
	return events.New(out...)
}

// nameOf returns the name of an element: its digest or, if nobody changed what an import brought or
// a redaction left, its name in its source. Before a turn was rewound it may have said less.
func nameOf(e *events.Element) string {
	names := e.RewoundNames()
	if IsBrought(e) {
		return names[len(names)-1]
	}
	return cmp.Or(e.RedactedName(), names[0])
}

// IsBrought reports whether an event is known to be what an import wrote.
func IsBrought(e *events.Element) bool {
	_, ok := e.Metadata().Value(metadataSum)
	return ok && !e.IsEdited()
}

func isPinned(e *events.Element) bool {
	_, ok := e.Metadata().Value(events.MetadataPrefix + "pin")
	return ok
}

// A sourceKey identifies an element of an import in all versions.
type sourceKey struct {
	kind events.Kind
	key  string
}

// sourceKeysOf returns the key of each element, zero for one without. A turn_start has that of the
// element that it precedes.
func sourceKeysOf(s *events.Stream) []sourceKey {
	keys, records := make([]sourceKey, s.Len()), s.RecordKeys()
	for i, e := range s.All() {
		at := e
		if e.Kind() == events.KindTurnStart && i+1 < s.Len() {
			at = s.At(i + 1)
		}
		if key, ok := at.Metadata().Text(events.MetadataSource); ok {
			keys[i] = sourceKey{e.Kind(), key}
		} else if records[i] != "" {
			keys[i] = sourceKey{e.Kind(), records[i]}
		}
	}
	return keys
}

type sourceIndex map[sourceKey]*events.Element

// newSourceIndex indexes the elements that a version has of a session in which an agent continued
// it, or, if resumed is "", of the session from which it was imported.
func newSourceIndex(side Side, resumed string) sourceIndex {
	s := side.Stream
	index, said := sourceIndex{}, s.SessionOf(side.Source.Resumed)
	for i, key := range sourceKeysOf(s) {
		if key != (sourceKey{}) && said[i] == resumed && index[key] == nil {
			index[key] = s.At(i)
		}
	}
	return index
}

// A harmonizer replaces elements of a shorter version by those that the longer one has for the same
// part of the source.
type harmonizer struct {
	all       sourceIndex
	was, is   sourceIndex // base before and after its elements were replaced; nil for base itself
	madeBase  bool        // the maker of the shorter version made base too
	sameMaker bool
	// newerRules says that the shorter version was redacted by newer rules than the longer one.
	newerRules bool
}

func (h harmonizer) stream(s *events.Stream) *events.Stream {
	var out []*events.Element
	open, changed := false, false
	s = h.divided(s)
	keys := sourceKeysOf(s)
	for i, e := range s.All() {
		if e.Kind() == events.KindTurnStart {
			_, open = e.Metadata().Value(events.MetadataOpen)
		}
		if with := h.all[keys[i]]; with != nil && h.takes(keys[i], e, with, open) {
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

// divided divides turns of a shorter version as those of the longer one: where the agent compacted
// the conversation and kept the end of a turn. As in an import, the records of the turn stay in its
// first part.
func (h harmonizer) divided(s *events.Stream) *events.Stream {
	keys, has := sourceKeysOf(s), map[string]bool{}
	for _, key := range keys {
		has[key.key] = true
	}
	var out []*events.Element
	second := -1 // where the second part of the turn begins in out; there may be further ones
	var open jsontext.Value
	var isOpen bool
	for i, e := range s.All() {
		begins := keys[i].key + events.SplitSuffix
		start := h.all[sourceKey{events.KindTurnStart, begins}]
		request := h.all[sourceKey{events.KindChatRequest, begins}]
		switch {
		case e.Kind() == events.KindTurnStart:
			second = -1
			open, isOpen = e.Metadata().Value(events.MetadataOpen)
		case e.Kind() == events.KindAgentRecord && second >= 0:
			out = slices.Insert(out, second, e)
			second++
			continue
		case start != nil && request != nil && !has[begins]:
			if isOpen { // as is its second part, until it is taken from the longer one
				start = start.WithMetadata(start.Metadata().With(events.MetadataOpen, open))
			}
			if second < 0 {
				second = len(out)
			}
			out = append(out, start, request)
		}
		out = append(out, e)
	}
	if len(out) == s.Len() {
		return s
	}
	return events.New(out...)
}

// takes reports whether e is replaced by with, the longer version's element for the same source.
func (h harmonizer) takes(key sourceKey, e, with *events.Element, open bool) bool {
	switch was := h.was[key]; {
	case bytes.Equal(e.Raw(), with.Raw()):
		return false
	case was != nil && h.is[key] == with && events.Equal(was, e) && !isMarked(e, was):
		return true // as in base, where it was replaced: a change of the longer version counts
	case isMarked(e, with):
		return false
	case h.newerRules && isRedacted(e, with):
		return false
	case key.kind == events.KindAgentRecord || events.Equal(e, with):
		return true
	case was != nil && h.madeBase && !events.Equal(was, e), e.IsEdited():
		return false // a person changed it in this version
	}
	return IsBrought(e) || open || !h.sameMaker
}

// isMarked reports whether an event has annotations of git-jp that the source's event does not
// have, such as a pin or a note of compaction.
func isMarked(e, source *events.Element) bool {
	for _, key := range e.Metadata().Keys() {
		_, both := source.Metadata().Value(key)
		if !both && !slices.Contains(importedKeys, key) {
			return true
		}
	}
	return false
}

// importedKeys are the annotations that an import writes and a later import may remove.
var importedKeys = []string{
	events.MetadataOpen, events.MetadataInjected, events.MetadataSplit, events.MetadataSubagent,
	metadataSum, events.MetadataPrefix + "usage",
}

// metadataSum is on an event whose edits are known, see [events.Element.IsEdited].
const metadataSum = events.MetadataPrefix + "sum"
