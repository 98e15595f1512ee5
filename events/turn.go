package events

import "iter"

// A Turn is a run of events that belong together: one query and everything that answered it.
// Between its first and last event there may be elements that are not events.
type Turn struct {
	Index       int  // 0-based; people count from 1
	First, Last int  // element indexes of its first and last event
	Implicit    bool // it begins without a turn_start
}

// Turns returns the turns in order. A turn_start opens a turn. Events before the first turn_start
// are a turn of their own, as is a whole stream without any. Every turn has at least one event, and
// every event is in exactly one turn.
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

// TurnOf returns the index of the turn that each element is in. An element that is not an event
// belongs to the turn before it, or to the first if none precedes it. In a stream without turns all
// are -1.
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

// startsTurn reports whether e opens a turn, where turn is the current one, or -1 before the first.
func startsTurn(e *Element, turn int) bool {
	return e.Kind() == KindTurnStart || turn < 0 && e.Kind().IsEvent()
}

// events yields the index of each event and of its turn.
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
