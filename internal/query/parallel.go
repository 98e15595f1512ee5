package query

import (
	"fmt"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
)

// unseen returns notes for requests that were asked on another branch than the turn before them, by
// the index of the request. A note depends only on the turns up to its own, so that a prompt keeps
// its prefix when the conversation continues.
func unseen(view *events.Stream) map[int]string {
	notes := map[int]string{}
	turnOf, parents := view.TurnOf(), threeway.Parents(view)
	known := -1 // the last turn that is a summary; all later turns know it
	last := -1
	for i, e := range view.All() {
		q, ok := e.Event().(*events.ChatRequest)
		if !ok || turnOf[i] == last {
			continue
		}
		last = turnOf[i]
		if n := last - 1 - max(parents[last], known); n > 0 && parents[last] != last-1 {
			notes[i] = unseenNote(n)
		}
		if q.Content == events.SummaryRequest {
			known = last
		}
	}
	return notes
}

func unseenNote(n int) string {
	above := "exchange"
	if n > 1 {
		above = fmt.Sprintf("%d exchanges", n)
	}
	return "[This question was asked on another branch of the conversation, in parallel: it and " +
		"what answers it were written without knowledge of the " + above + " directly above.]"
}
