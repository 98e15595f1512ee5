package events

import "iter"

// A Turn is a run of events that belong together: what one query said and got.
// Between its first and last event there may stand elements that are no events.
type Turn struct {
	Index       int  // 0-based; people count from 1
	First, Last int  // element indexes of its first and last event
	Implicit    bool // it begins without a turn_start
}

// Turns returns the turns in order. A turn_start opens one; what stands before
// the first turn_start is a turn of its own, as all of a stream without any is.
// Every turn holds an event, and every event is in one turn.
func (s *Stream) Turns() []Turn {
	n := 1
	for _, e := range s.All() {
		if e.Kind() == KindTurnStart {
			n++
		}
	}
	turns := make([]Turn, 0, n) // a stream may have a hundred thousand
	for i, e := range s.All() {
		switch kind := e.Kind(); {
		case !kind.IsEvent():
		case kind == KindTurnStart || len(turns) == 0:
			turns = append(turns, Turn{
				Index: len(turns), First: i, Last: i,
				Implicit: kind != KindTurnStart,
			})
		default:
			turns[len(turns)-1].Last = i
		}
	}
	return turns
}

// TurnOf returns the index of the turn that each element is in. An element that
// is no event counts to the turn before it, or to the first when there is none
// before it; in a stream without turns all are -1.
func (s *Stream) TurnOf() []int {
	of := make([]int, s.Len())
	turn := -1
	for i, e := range s.All() {
		if startsTurn(e, turn) {
			turn++
		}
		of[i] = max(turn, 0)
	}
	if turn < 0 {
		for i := range of {
			of[i] = -1
		}
	}
	return of
}

// startsTurn reports whether e opens a turn when the last one so far is turn, -1
// for none.
func startsTurn(e *Element, turn int) bool {
	return e.Kind() == KindTurnStart || turn < 0 && e.Kind().IsEvent()
}

// events yields the indexes of the events with the turn that each is in.
func (s *Stream) events() iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		turn := -1
		for i, e := range s.All() {
			if startsTurn(e, turn) {
				turn++
			}
			if e.Kind().IsEvent() && !yield(i, turn) {
				return
			}
		}
	}
}
