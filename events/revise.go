package events

// Revise returns the stream with every event replaced by what change returns for it; nil removes
// the event. The lead, if any, is inserted before the first event, and its turn_start opens a turn
// of its own. Elements that are not events are kept, so each remaining event keeps its
// configuration. Anything that the change broke is repaired as by [Stream.Sanitize]; faults that
// the stream already had, such as a call that is still unanswered, are kept. Compactions are
// adjusted as by [Stream.Fork], except that a summary is kept as long as something of each of its
// turns is: it still describes them, even if they became shorter.
func (s *Stream) Revise(change func(i int, e *Element) *Element, lead ...*Element) *Stream {
	ps := make([]piece, 0, s.Len()+len(lead))
	first := s.firstEvent()
	for i, e := range s.All() {
		if i == first {
			for _, l := range lead {
				ps = append(ps, added(l))
			}
		}
		if e.Kind().IsEvent() {
			e = change(i, e)
		}
		if e != nil {
			ps = append(ps, piece{e, i})
		}
	}
	keep := s.inTurnsOf(ps)
	ps = sanitize(ps, s.pieces())
	return s.rebuild(newRebase(s, keep, ps).apply(ps))
}

// inTurnsOf reports for each element whether ps still has an event of its turn.
func (s *Stream) inTurnsOf(ps []piece) []bool {
	of, left := s.TurnOf(), map[int]bool{}
	for _, p := range ps {
		if p.src >= 0 && p.el.Kind().IsEvent() {
			left[of[p.src]] = true
		}
	}
	keep := make([]bool, s.Len())
	for i := range keep {
		keep[i] = left[of[i]]
	}
	return keep
}
