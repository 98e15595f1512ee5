package events

import (
	"slices"
	"time"
)

// interrupted is the result of a tool call that was never completed, as jp words it.
const interrupted = "Tool call was interrupted."

// Sanitize returns the stream with everything repaired that providers refuse, exactly as jp does
// before each request: no event before the first request of the user, no response without its
// request, every tool call answered, no open question, no empty turn at the end, and one turn_start
// before the first request. s itself is not changed. If nothing needs repair the result encodes to
// the same bytes.
//
// jp matches the ids of calls in the whole stream, not within the turn, so a single response closes
// two calls with the same id. It does not adjust the ranges of compactions when turns vanish;
// [Stream.Fork] without options does the same and adjusts them. A stream without any request of the
// user gains another turn_start at each run, as it does with jp.
func (s *Stream) Sanitize() *Stream {
	return s.rebuild(sanitize(s.pieces(), nil))
}

// sanitize repairs ps, except for faults that ps already had in its earlier form was.
func sanitize(ps, was []piece) []piece {
	for _, repair := range []func([]piece) []piece{
		dropBeforeRequest,
		func(ps []piece) []piece {
			return dropUnmatched(ps, KindToolCallResponse, KindToolCallRequest)
		},
		closeCalls,
		func(ps []piece) []piece {
			return dropUnmatched(ps, KindInquiryResponse, KindInquiryRequest)
		},
		func(ps []piece) []piece {
			return dropUnmatched(ps, KindInquiryRequest, KindInquiryResponse)
		},
		dropTrailingTurn,
		normalizeTurnStart,
	} {
		if len(repair(was)) == len(was) { // each repair only adds or only removes
			ps = repair(ps)
		}
	}
	return ps
}

// dropBeforeRequest removes the events before the first chat_request, except turn_starts.
func dropBeforeRequest(ps []piece) []piece {
	first := firstOf(ps, KindChatRequest)
	if first < 0 {
		return ps
	}
	return filter(ps, func(i int) bool {
		kind := ps[i].el.Kind()
		return i >= first || !kind.IsEvent() || kind == KindTurnStart
	})
}

// dropUnmatched removes the events of kind drop whose id no event of kind match has.
func dropUnmatched(ps []piece, drop, match Kind) []piece {
	ids := idsOf(ps, match)
	return filter(ps, func(i int) bool {
		return ps[i].el.Kind() != drop || ids[ps[i].el.EventID()]
	})
}

// closeCalls answers every tool call whose id has no response.
func closeCalls(ps []piece) []piece {
	answered := idsOf(ps, KindToolCallResponse)
	out := make([]piece, 0, len(ps))
	for _, p := range ps {
		out = append(out, p)
		if id := p.el.EventID(); p.el.Kind() == KindToolCallRequest && !answered[id] {
			out = append(out, added(interruptedResponse(id, p.el.Time())))
		}
	}
	return out
}

func interruptedResponse(id string, at time.Time) *Element {
	return newElement(at, &ToolCallResponse{
		ID:      id,
		Blocks:  []Block{textResult(interrupted)},
		IsError: true,
	}, Metadata{})
}

// textResult returns the block for a result that is a single text, in jp's own form: Sanitize acts
// as jp would, so jp must be able to read the result.
func textResult(text string) Block {
	return legacyBlock(appendBase64(nil, []byte(text)))
}

// dropTrailingTurn removes a turn_start that is the last event. If there are two, the first is
// kept.
func dropTrailingTurn(ps []piece) []piece {
	for i, p := range slices.Backward(ps) {
		if !p.el.Kind().IsEvent() {
			continue
		}
		if p.el.Kind() == KindTurnStart {
			return slices.Delete(slices.Clone(ps), i, i+1)
		}
		break
	}
	return ps
}

// normalizeTurnStart ensures that exactly one turn_start precedes the first request. A stream with
// no events but turn_starts is left alone.
func normalizeTurnStart(ps []piece) []piece {
	if !slices.ContainsFunc(ps, func(p piece) bool {
		return p.el.Kind().IsEvent() && p.el.Kind() != KindTurnStart
	}) {
		return ps
	}
	// Without a request jp assumes position 0 and, finding no turn_start before that, inserts one
	// at every run.
	request := max(firstOf(ps, KindChatRequest), 0)
	last := -1
	for i, p := range ps[:request] {
		if p.el.Kind() == KindTurnStart {
			last = i
		}
	}
	if last < 0 {
		return slices.Insert(slices.Clone(ps), request, added(turnStartBefore(ps[request].el)))
	}
	return filter(ps, func(i int) bool {
		return i >= last || ps[i].el.Kind() != KindTurnStart
	})
}

// turnStartBefore returns a turn_start with the time of e, or of the epoch if e is not an event.
func turnStartBefore(e *Element) *Element {
	at := time.Unix(0, 0).UTC()
	if e.Kind().IsEvent() {
		at = e.Time()
	}
	return newElement(at, &TurnStart{}, Metadata{})
}

func firstOf(ps []piece, kind Kind) int {
	return slices.IndexFunc(ps, func(p piece) bool { return p.el.Kind() == kind })
}

func idsOf(ps []piece, kind Kind) map[string]bool {
	ids := map[string]bool{}
	for _, p := range ps {
		if p.el.Kind() == kind {
			ids[p.el.EventID()] = true
		}
	}
	return ids
}

// EventID returns the id by which calls and inquiries are paired, or "" for other events.
func (e *Element) EventID() string {
	switch ev := e.Event().(type) {
	case *ToolCallRequest:
		return ev.ID
	case *ToolCallResponse:
		return ev.ID
	case *InquiryRequest:
		return ev.ID
	case *InquiryResponse:
		return ev.ID
	default:
		return ""
	}
}
