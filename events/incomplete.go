package events

import "github.com/git-jp/git-jp/internal/lists"

// An Interruption describes the missing parts of a stream's last turn. A stream has one while a
// query runs, and keeps it if the query was cut off.
type Interruption struct {
	Turn      int
	Calls     []Call    // tool calls without a response
	Inquiries []Inquiry // questions without an answer
	// Unanswered reports that the model has yet to respond: the turn is empty, or ends with a
	// request or with tool results.
	Unanswered bool
}

// Incomplete reports whether the last turn is unfinished, and which parts are missing. Earlier
// turns do not count, since a later query continued after them.
func (s *Stream) Incomplete() (Interruption, bool) {
	turns := s.Turns()
	if len(turns) == 0 {
		return Interruption{}, false
	}
	turn := turns[len(turns)-1]
	calls := lists.Filter(s.Calls(), func(c Call) bool { return c.Turn == turn.Index && c.Open() })
	inquiries := lists.Filter(s.Inquiries(), func(q Inquiry) bool {
		return q.Turn == turn.Index && q.Open()
	})
	in := Interruption{turn.Index, calls, inquiries, s.awaitsModel(turn)}
	return in, len(in.Calls) > 0 || len(in.Inquiries) > 0 || in.Unanswered
}

// awaitsModel reports whether the model is to speak next in a turn. Inquiries are skipped, and a
// tool call request counts as the model's output.
func (s *Stream) awaitsModel(t Turn) bool {
	for i := t.Last; i >= t.First; i-- {
		switch s.At(i).Kind() {
		case KindChatResponse, KindToolCallRequest:
			return false
		case KindTurnStart, KindChatRequest, KindToolCallResponse:
			return true
		}
	}
	return false
}
