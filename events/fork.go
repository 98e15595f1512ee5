package events

import "time"

// ForkOptions selects the elements that a fork keeps. The zero value keeps everything.
type ForkOptions struct {
	// From and Until keep the events at or after From and before Until; the zero time leaves that
	// end open.
	From, Until time.Time
	// First and Last keep that many turns from the start, from the end, or both, of those that From
	// and Until selected; 0 is no limit. As in jp only a turn_start counts as a turn: what precedes
	// the first one is removed as soon as anything is, and in a stream without any, First and Last
	// together keep nothing while one alone changes nothing.
	First, Last int
	// KeepNone removes all turns and keeps the configuration.
	KeepNone bool
}

// Fork returns the initial stream of a fork: the selected events, sanitized as by
// [Stream.Sanitize]. It keeps the same events as jp. For other elements it differs:
//
//   - Elements of unknown kinds are kept. jp loses them.
//   - Every config_delta is kept in place, so that each remaining event keeps its
//     configuration. Those after the last remaining event are removed if they belong to
//     turns that were removed. With KeepNone all are kept: the fork continues with the
//     configuration that the source ended with.
//   - A compaction is kept, with its range adjusted. jp loses it. A summary is kept only
//     if everything it summarizes is; the other policies shrink to the remaining turns. A
//     compaction never comes to cover a turn that it had not covered, nor, once its range
//     had to be changed, turns that are still to come.
func (s *Stream) Fork(o ForkOptions) *Stream {
	keep := s.chosen(o)
	ps := sanitize(filter(s.pieces(), func(i int) bool { return keep[i] }), nil)
	if !o.KeepNone {
		ps = s.dropTrailingDeltas(ps, keep)
	}
	return s.rebuild(newRebase(s, keep, ps).apply(ps))
}

// chosen returns which elements the options keep. Elements that are not events are kept.
func (s *Stream) chosen(o ForkOptions) []bool {
	keep := make([]bool, s.Len())
	starts := 0
	for i, e := range s.All() {
		keep[i] = !e.Kind().IsEvent() || !o.KeepNone && o.during(e.Time())
		if keep[i] && e.Kind() == KindTurnStart {
			starts++
		}
	}
	within := o.window(starts)
	seen := 0
	for i, e := range s.All() {
		if keep[i] && e.Kind() == KindTurnStart {
			seen++
		}
		keep[i] = keep[i] && (!e.Kind().IsEvent() || within(seen))
	}
	return keep
}

func (o ForkOptions) during(at time.Time) bool {
	return (o.From.IsZero() || !at.Before(o.From)) &&
		(o.Until.IsZero() || at.Before(o.Until))
}

// window returns a function that reports whether First and Last keep an event, given the number of
// turn_starts at or before it. The stream has n turn_starts.
func (o ForkOptions) window(n int) func(seen int) bool {
	first, last := max(o.First, 0), max(o.Last, 0)
	switch {
	case first > 0 && last > 0 && n == 0:
		return func(int) bool { return false }
	case first == 0 && last == 0, first >= n-last:
		return func(int) bool { return true }
	default:
		return func(seen int) bool {
			return seen > 0 && seen <= first || last > 0 && seen > n-last
		}
	}
}

// dropTrailingDeltas removes from ps the configuration changes after the last event if later events
// of the source were not selected, since they belong to those events. keep reports which elements
// were selected. Elements before the first event of the source are always kept, since in legacy
// streams they are the base configuration.
func (s *Stream) dropTrailingDeltas(ps []piece, keep []bool) []piece {
	last := s.firstEvent()
	for _, p := range ps {
		if p.el.Kind().IsEvent() {
			last = max(last, p.src)
		}
	}
	cut := false
	for i := last; i < s.Len(); i++ {
		cut = cut || !keep[i]
	}
	if !cut {
		return ps
	}
	return filter(ps, func(i int) bool {
		return ps[i].el.Kind() != KindConfigDelta || ps[i].src < last
	})
}

// firstEvent returns the index of the first event, or the length if there is none.
func (s *Stream) firstEvent() int {
	for i, e := range s.All() {
		if e.Kind().IsEvent() {
			return i
		}
	}
	return s.Len()
}
