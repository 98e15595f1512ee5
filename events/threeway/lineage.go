package threeway

import "github.com/git-jp/git-jp/events"

// Parents returns for each turn the index of the turn that it follows, -1 for none. That is
// the turn before it, except where branches were merged: a turn whose parent stands further
// up was asked without knowledge of the turns in between. Notes of merges say which those
// are; they count only while all of them agree with the order of the file.
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
			return parents // what cannot be read says nothing about its order
		}
	}
	m.matchTurns()
	m.readParents()
	last := -1
	for _, t := range m.streams[inOurs].turns {
		if t.index != last { // of several without a turn_start that count as one, the first
			last = t.index
			parents[last] = m.indexOfParent(t.merged)
		}
	}
	return parents
}

// ParallelTurns returns how many turns were asked without knowledge of the turn before them.
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

// indexOfParent returns the index of the nearest turn that a turn of ours follows.
func (m *merger) indexOfParent(t *mergeTurn) int {
	there := func(p *mergeTurn) bool { return p.in[inOurs] != nil }
	known := func(p *mergeTurn) *mergeTurn { return p.knownParent(inOurs) }
	p := m.firstThere(known(t), there, known)
	if p == nil || !there(p) {
		return -1
	}
	return p.in[inOurs].index
}
