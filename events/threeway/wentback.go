package threeway

import (
	"cmp"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
)

// lessThan reports whether a version has less of a session than another, whatever it says of that.
func lessThan(v, w events.ImportVersion) bool {
	return cmp.Or(cmp.Compare(v.Revision, w.Revision), cmp.Compare(v.Length, w.Length)) < 0
}

// version returns how much of the session a version has.
func (t telling) version(s Source) events.ImportVersion {
	if t.resumed != "" {
		return s.Resumed[t.session]
	}
	return s.Version
}

// imported returns base without what a side has not because it went back to an earlier import, as
// a revert of an import does: an import is a copy, and the side says that it has less of it, so it
// removed nothing. That is what follows the last element that it has of the session, except turns
// that its imports brought and of which it has nothing, which a person removed.
func (t telling) imported(base, side Side) *events.Stream {
	s := base.Stream
	if !lessThan(t.version(side.Source), t.version(base.Source)) {
		return s
	}
	removed := lists.Set(side.Source.Imported)
	same := map[blobs.Hash]bool{}
	turns := side.Stream.SourceTurns()
	for i, e := range side.Stream.All() {
		delete(removed, turns[i])
		same[e.Sum()] = true
	}
	index := newSourceIndex(side, t.resumed)
	keys, said := sourceKeysOf(s), s.SessionOf(base.Source.Resumed)
	last := -1
	for i, key := range keys {
		if index[key] != nil && said[i] == t.resumed && key.kind != events.KindAgentRecord {
			last = i // a record comes at the end of its turn, whatever the turn has of the source
		}
	}
	var out []*events.Element
	turns = s.SourceTurns()
	for i, e := range s.All() {
		isOf := keys[i] != (sourceKey{}) && said[i] == t.resumed && !removed[turns[i]]
		if keys[i] == (sourceKey{}) {
			isOf = !e.Kind().IsEvent() && !same[e.Sum()] // settings, a compaction by the agent
		}
		if i <= last || !isOf {
			out = append(out, e)
		}
	}
	return events.New(out...)
}

// goBack makes two details say how much of a session the one has that went back to an earlier
// import, if the other has as much as base: nothing else in it need differ from base, and then the
// merge has the stream of the first.
func goBack(base, ours, theirs, o, t *events.Details) {
	b, x, y := SourceOf(base), SourceOf(ours), SourceOf(theirs)
	back := ours
	if y.Version.Compare(x.Version) < 0 {
		back, x, y = theirs, y, x
	}
	for _, d := range []*events.Details{o, t} {
		if b.Session != "" && b.Session == x.Session && b.Session == y.Session &&
			b.Version == y.Version && lessThan(x.Version, b.Version) {
			setSource(d, back)
			_ = d.SetImportedTurns(back.ImportedTurns()) // valid: they were read from a file
		}
	}
	for session, was := range b.Resumed {
		v, ok := x.Resumed[session]
		w, too := y.Resumed[session]
		if v.Compare(w) > 0 {
			v, w = w, v
		}
		if ok && too && w == was && lessThan(v, was) {
			o.SetResumed(session, v)
			t.SetResumed(session, v)
		}
	}
}
