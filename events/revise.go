package events

// Revise returns the stream with its events changed: each is replaced by what change returns
// for it, nil taking it out. The lead, if any, stands before the first event; its turn_start
// opens a turn of its own. Elements that are no events stay, so that each event that is left
// has the configuration that it had. What the change broke is repaired as by [Stream.Sanitize];
// what stood so before, such as a call that is still to be answered, stays. Compactions move
// along as with [Stream.Fork], but that a summary stays while something of each of its turns
// does: it tells of them, whatever became shorter.
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

// inTurnsOf tells which elements are of turns that ps still has something of.
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
