package compact

import (
	"iter"

	"github.com/git-jp/git-jp/events"
)

// InOrder yields the elements of a stream, with their indexes, in the order in which a model is
// sent them: results of calls that it made in one answer come after the last of these. Agents start
// a call as soon as it is there, so their sessions have its result before the next call of the same
// answer. That an answer goes on shows in its usage, which is at its last event.
func InOrder(s *events.Stream) iter.Seq2[int, *events.Element] {
	return func(yield func(int, *events.Element) bool) {
		for _, i := range order(s) {
			if !yield(i, s.At(i)) {
				return
			}
		}
	}
}

// order returns the indexes of all elements in the order of [InOrder].
func order(s *events.Stream) []int {
	told := told(s)
	all, late := make([]int, 0, s.Len()), []int(nil)
	open := false // whether the answer so far is an agent's, and its usage follows
	for i, e := range s.All() {
		switch e.Kind() {
		case events.KindToolCallResponse:
			if open {
				late = append(late, i)
				continue
			}
		case events.KindToolCallRequest, events.KindChatResponse:
			if e.Kind() != events.KindToolCallRequest || !told[i] {
				all, late = append(all, late...), nil
			}
			if open = told[i] && !hasUsage(e); !open {
				all, late = append(append(all, i), late...), nil
				continue
			}
		}
		all = append(all, i)
	}
	return all
}

// told returns for each element whether it is of an answer in an agent's session, with usage there
// or in what the model said next.
func told(s *events.Stream) []bool {
	all, next := make([]bool, s.Len()), false
	for i := s.Len() - 1; i >= 0; i-- {
		e := s.At(i)
		switch e.Kind() {
		case events.KindTurnStart, events.KindChatRequest:
			next = false
		case events.KindChatResponse, events.KindToolCallRequest:
			_, imported := e.Metadata().Value(events.MetadataSource)
			next = imported && (next || hasUsage(e))
			all[i] = next
		}
	}
	return all
}

func hasUsage(e *events.Element) bool {
	_, ok := e.Metadata().Value(MetadataUsage)
	return ok
}
