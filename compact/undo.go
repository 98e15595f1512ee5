package compact

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
)

// ErrNoOverlay reports that there is no such compaction to remove.
var ErrNoOverlay = errors.New("there is no such compaction")

// A RecordedError reports a compaction that an agent made in its session, and an import brought:
// it is a part of what the agent recorded, which no undo removes.
type RecordedError struct{ *events.Compaction }

// Error implements error.
func (e *RecordedError) Error() string {
	turns := fmt.Sprintf("turn %d", e.FromTurn+1)
	if e.ToTurn > e.FromTurn {
		turns = fmt.Sprintf("turns %d to %d", e.FromTurn+1, e.ToTurn+1)
	}
	return fmt.Sprintf("the summary of %s is the agent's own", turns)
}

// RemoveOverlay removes the n-th compaction, counted from 1, or the last one if n is negative, or
// all if n is 0. It returns the removed ones. Those that an agent recorded are counted, as they are
// listed, and never removed: if that leaves none the error is a [RecordedError].
func RemoveOverlay(s *events.Stream, n int) (*events.Stream, []*events.Compaction, error) {
	all := places(s, events.KindCompaction)
	own := overlay(s)
	at := own
	switch {
	case n > len(all) || len(all) == 0:
		return nil, nil, ErrNoOverlay
	case n > 0:
		at = nil
		if i := all[n-1]; slices.Contains(own, i) {
			at = []int{i}
		}
	case n < 0:
		at = own[max(len(own)-1, 0):]
	}
	if len(at) == 0 {
		if n <= 0 {
			n = len(all)
		}
		c, _ := s.At(all[n-1]).Event().(*events.Compaction)
		return nil, nil, &RecordedError{c}
	}
	out := s.Clone()
	var gone []*events.Compaction
	for _, i := range slices.Backward(at) {
		if c, ok := out.At(i).Event().(*events.Compaction); ok {
			gone = append(gone, c)
		}
		out.Remove(i, 1)
	}
	slices.Reverse(gone)
	return out, gone, nil
}

// LastOverlay returns when the last compaction that [RemoveOverlay] may remove was made, or the
// zero time.
func LastOverlay(s *events.Stream) (last time.Time) {
	for _, i := range overlay(s) {
		if at := s.At(i).Time(); at.After(last) {
			last = at
		}
	}
	return last
}

// overlay returns the places of the compactions that no agent recorded. Nothing in a compaction
// says who made it, but an agent replaces all that it was told so far, in its own turn or before
// its next one. Only the text tells a summary of as much that was written here; one by jp of all
// turns, the agent's last one included, counts as the agent's, since that loses nothing.
func overlay(s *events.Stream) []int {
	turns, agents := s.TurnOf(), map[int]bool{}
	for i, name := range s.SourceTurns() {
		if name != "" {
			agents[turns[i]] = true
		}
	}
	return slices.DeleteFunc(places(s, events.KindCompaction), func(i int) bool {
		c, ok := s.At(i).Event().(*events.Compaction)
		return ok && c.Summary != nil && !c.StripReasoning && c.ToolCalls == nil &&
			c.ToTurn >= turns[i] && (agents[turns[i]] || agents[turns[i]+1]) &&
			!strings.Contains(*c.Summary, asked)
	})
}

// CompactedAt returns when strategies made a conversation smaller, or the zero time.
func CompactedAt(s *events.Stream) time.Time {
	c, _ := compactedOf(s)
	return c.At
}
