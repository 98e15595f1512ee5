package events

import (
	"cmp"
	"slices"
	"time"
)

// A Range is a run of consecutive turns, counted from 0, with both ends included.
type Range struct{ From, To int }

// A Bound is one end of a range of turns, before the number of turns is known. The zero value is an
// open end. Bounds are comparable.
type Bound struct {
	kind boundKind
	n    int
	at   time.Time
}

type boundKind int

const (
	boundOpen boundKind = iota
	boundTurn
	boundFromEnd
	boundAfterCompaction
	boundTime
	boundNothing
)

// AtTurn returns a bound at turn n, counted from 0.
func AtTurn(n int) Bound { return Bound{kind: boundTurn, n: n} }

// FromEnd returns a bound at the turn that n turns follow: 0 is the last turn.
func FromEnd(n int) Bound { return Bound{kind: boundFromEnd, n: n} }

// afterLastCompaction returns a bound at the first turn after everything that compactions cover,
// which is the first turn of the stream if there is no compaction.
func afterLastCompaction() Bound { return Bound{kind: boundAfterCompaction} }

// AtTime returns a bound at time t: as the end of a range, the turn that was in progress at t; as
// the start, the turn after it.
func AtTime(t time.Time) Bound { return Bound{kind: boundTime, at: t} }

// FirstTurns returns the bounds of the first n turns.
func FirstTurns(n int) (from, to Bound) {
	if n <= 0 {
		return Bound{kind: boundNothing}, Bound{kind: boundNothing}
	}
	return AtTurn(0), AtTurn(n - 1)
}

// LastTurns returns the bounds of the last n turns.
func LastTurns(n int) (from, to Bound) {
	if n <= 0 {
		return Bound{kind: boundNothing}, Bound{kind: boundNothing}
	}
	return FromEnd(n - 1), FromEnd(0)
}

// Turn returns the turn of a bound made by [AtTurn]. Commands use it to report a turn that does not
// exist, where [Stream.ResolveRange] would clamp.
func (b Bound) Turn() (n int, ok bool) { return b.n, b.kind == boundTurn }

// ResolveRange returns the turns between two bounds, or false if there are none. The two ends are
// clamped differently, so that a command that spares some turns never affects more turns because
// the stream has fewer: a start before the first turn becomes the first and a start after the last
// selects nothing; an end after the last turn becomes the last and an end before the first selects
// nothing.
func (s *Stream) ResolveRange(from, to Bound) (Range, bool) {
	turns := s.Turns()
	first, ok := s.resolveFrom(from, turns)
	if !ok {
		return Range{}, false
	}
	last, ok := s.resolveTo(to, turns)
	return Range{first, last}, ok && first <= last
}

func (s *Stream) resolveFrom(b Bound, turns []Turn) (int, bool) {
	n, last := 0, len(turns)-1
	switch b.kind {
	case boundOpen:
	case boundTurn:
		n = max(b.n, 0)
	case boundFromEnd:
		n = max(last-b.n, 0)
	case boundAfterCompaction:
		n = s.afterCompactions(last)
	case boundTime:
		n = s.turnAt(b.at, turns) + 1
	default:
		return 0, false
	}
	return n, n <= last
}

func (s *Stream) resolveTo(b Bound, turns []Turn) (int, bool) {
	last := len(turns) - 1
	n := last
	switch b.kind {
	case boundOpen:
	case boundTurn:
		n = b.n
	case boundFromEnd:
		n = last - b.n
	case boundAfterCompaction:
		n = s.afterCompactions(last)
	case boundTime:
		n = s.turnAt(b.at, turns)
	default:
		return 0, false
	}
	return min(n, last), n >= 0
}

// afterCompactions returns the turn after the last one that a compaction covers.
func (s *Stream) afterCompactions(last int) int {
	next := 0
	for _, c := range s.compactions() {
		next = max(next, min(c.ToTurn, last)+1)
	}
	return next
}

// turnAt returns the last turn that had begun at t, or -1 if no turn had. Turns are scanned in
// stream order until one is later than t, even if later ones are earlier.
func (s *Stream) turnAt(t time.Time, turns []Turn) int {
	for i, turn := range turns {
		if s.At(turn.First).Time().After(t) {
			return i - 1
		}
	}
	return len(turns) - 1
}

// ExtendForSummary returns the range that a new summary of r has to cover: r, every summarized
// range that overlaps it, and those that overlap these in turn. A summary that lies inside another
// would split it, and the text of the outer one would be sent twice.
func (s *Stream) ExtendForSummary(r Range) Range {
	var summaries []Range
	for _, c := range s.compactions() {
		if c.Summary != nil {
			summaries = append(summaries, Range{c.FromTurn, c.ToTurn})
		}
	}
	// Overlapping ranges are joined in order of their starts, so the last of each group covers the
	// whole group, and one pass over the ranges is enough.
	slices.SortFunc(summaries, func(a, b Range) int { return cmp.Compare(a.From, b.From) })
	for i, sum := range summaries {
		if i > 0 && sum.From <= summaries[i-1].To {
			summaries[i] = Range{summaries[i-1].From, max(summaries[i-1].To, sum.To)}
		}
	}
	for _, sum := range summaries {
		if sum.From <= r.To && r.From <= sum.To {
			r = Range{min(r.From, sum.From), max(r.To, sum.To)}
		}
	}
	return r
}
