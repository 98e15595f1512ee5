package threeway

import "github.com/git-jp/git-jp/events"

// Parents returns for each turn the index of the turn that it follows, or -1. That is the preceding
// turn unless branches were merged: a turn with an earlier parent was asked without knowledge of
// the turns in between. Merges record such parents; the records count only as long as all of them
// agree with the order of the file.
func Parents(s *events.Stream) []int {
	parents := make([]int, len(s.Turns()))
	for i := range parents {
		parents[i] = i - 1
	}
	if !notesParents(s) {
		return parents
	}
	none := Side{Stream: events.New()}
	m := newMerger([versions]Side{none, {Stream: s}, none}, false)
	for v := range m.sides {
		if m.read(v) != nil {
			return parents // assume the order of the file
		}
	}
	m.matchTurns()
	m.readParents()
	last := -1
	for _, t := range m.streams[inOurs].turns {
		if t.index != last { // of several that count as one for lack of a turn_start, the first
			last = t.index
			parents[last] = m.indexOfParent(t.merged)
		}
	}
	return parents
}

// ParallelTurns returns the number of turns that were asked without knowledge of the preceding
// turn.
func ParallelTurns(s *events.Stream) int {
	n := 0
	for i, parent := range Parents(s) {
		if parent != i-1 {
			n++
		}
	}
	return n
}

func notesParents(s *events.Stream) bool {
	for _, e := range s.All() {
		if e.Kind() != events.KindTurnStart {
			continue
		}
		if _, ok := e.Metadata().Value(events.MetadataParent); ok {
			return true
		}
	}
	return false
}

// indexOfParent returns the index of the nearest ancestor of a turn that ours has, or -1.
func (m *merger) indexOfParent(t *mergeTurn) int {
	there := func(p *mergeTurn) bool { return p.in[inOurs] != nil }
	known := func(p *mergeTurn) *mergeTurn { return p.knownParent(inOurs) }
	p := m.firstThere(known(t), there, known)
	if p == nil || !there(p) {
		return -1
	}
	return p.in[inOurs].index
}
