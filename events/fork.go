package events

import "time"

// ForkOptions chooses what a fork keeps. The zero value keeps everything.
type ForkOptions struct {
	// From and Until keep the events that are not before From and are before
	// Until; the zero time leaves that end open.
	From, Until time.Time
	// First and Last keep that many turns from the start, from the end, or
	// both, of what From and Until left; 0 does not limit. As with jp only a
	// turn_start counts as a turn: what stands before the first one goes as soon
	// as anything goes, and in a stream without any, First and Last together
	// keep nothing while one alone changes nothing.
	First, Last int
	// KeepNone removes all turns and keeps the configuration.
	KeepNone bool
}

// Fork returns what a fork of the conversation begins with: the chosen events,
// sanitized as by [Stream.Sanitize]. The events are those that jp keeps. Beyond
// them:
//
//   - Elements of unknown kinds stay. jp loses them.
//   - Every config_delta stays in place as it is, so that each remaining event
//     has the configuration that it had, but those after the last remaining
//     event go when they belong to turns that went. With KeepNone all stay: the
//     fork goes on under the configuration that the source ended with.
//   - A compaction stays with its range moved along. jp loses it. A summary stays
//     only while everything it tells of does; the other policies shrink to the
//     turns that are left. None comes to cover a turn that it had not covered,
//     nor, once its range had to be changed, turns that are still to come.
func (s *Stream) Fork(o ForkOptions) *Stream {
	keep := s.chosen(o)
	ps := sanitize(filter(s.pieces(), func(i int) bool { return keep[i] }), nil)
	if !o.KeepNone {
		ps = s.dropTrailingDeltas(ps, keep)
	}
	return s.rebuild(newRebase(s, keep, ps).apply(ps))
}

// chosen returns which elements the options keep. Elements that are no events
// are kept.
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

// window returns whether an event stays by First and Last when seen of n
// turn_starts stand at or before it.
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

// dropTrailingDeltas drops from ps, what is left of the elements in keep, those
// configuration changes that stand behind the last event although later events
// were not chosen: they belong to those. What stands before the first event of
// the source stays in any case, since in legacy streams it is the base
// configuration.
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

// firstEvent returns the index of the first event, the length if there is none.
func (s *Stream) firstEvent() int {
	for i, e := range s.All() {
		if e.Kind().IsEvent() {
			return i
		}
	}
	return s.Len()
}
