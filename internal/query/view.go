package query

import (
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
)

// interrupted is the result of a call without one, in jp's words.
const interrupted = "Tool call was interrupted."

// View returns the part of a stream that a model is given: compactions are applied, elements that
// providers refuse are repaired as by [events.Stream.Sanitize], results follow their calls, and
// trimmed elements are left out. Unchanged elements are those of the stream.
func View(stored *events.Stream) *events.Stream {
	return dedup.Trim(untrimmed(stored.Project()))
}

// untrimmed returns the view with trimmed elements, which are marked.
func untrimmed(p events.Projection) *events.Stream { return arrange(p.Stream).Sanitize() }

// arrange moves the results of each run of calls behind its last call, in the order of the calls.
// Sanitize would close each open call at its position, and so separate calls that were made at
// once; and merged streams have results anywhere in the turn.
func arrange(s *events.Stream) *events.Stream {
	a := arranger{source: s, result: map[int]int{}}
	for _, c := range s.Calls() {
		a.result[c.Request] = c.Response
	}
	for i, e := range compact.InOrder(s) {
		a.element(i, e)
	}
	a.flush()
	return events.New(a.out...)
}

type arranger struct {
	source *events.Stream
	result map[int]int // index of the response by index of the request
	open   []int       // calls of the current run
	out    []*events.Element
}

func (a *arranger) element(i int, e *events.Element) {
	switch e.Kind() {
	case events.KindToolCallRequest:
		a.open = append(a.open, i)
		a.out = append(a.out, e)
	case events.KindToolCallResponse:
		a.flush()
	case events.KindChatRequest, events.KindTurnStart:
		a.flush()
		a.out = append(a.out, e)
	default:
		a.out = append(a.out, e)
	}
}

// flush answers the calls of the run. Responses without a call are dropped, since only this
// function adds responses.
func (a *arranger) flush() {
	for _, i := range a.open {
		if r := a.result[i]; r >= 0 {
			a.out = append(a.out, a.source.At(r))
			continue
		}
		a.out = append(a.out, unanswered(a.source.At(i)))
	}
	a.open = nil
}

// unanswered returns the result for a call without one.
func unanswered(call *events.Element) *events.Element {
	request, _ := call.Event().(*events.ToolCallRequest)
	at := call.Time()
	if at.IsZero() {
		at = time.Unix(0, 0).UTC()
	}
	return events.NewElement(at, &events.ToolCallResponse{
		ID: request.ID, IsError: true,
		Blocks: []events.Block{{
			Type: events.BlockText, Content: blobs.Loaded([]byte(interrupted)),
		}},
	}, events.Metadata{})
}
