package events

// A Call is a request for a tool and the response to it, if any.
type Call struct {
	Turn     int
	Request  int // element index
	Response int // element index, -1 while the call is open
	ID, Name string
}

// Open reports whether the call has no response.
func (c Call) Open() bool { return c.Response < 0 }

// Calls returns the tool calls in the order of their requests. Call ids are not unique in a stream,
// so requests and responses are paired within a turn and in order: a response answers the first
// open request before it with the same id. A response that answers no request is in no Call.
func (s *Stream) Calls() []Call {
	var calls []Call
	for _, p := range s.pairs(KindToolCallRequest, KindToolCallResponse) {
		c := Call{Turn: p.Turn, Request: p.Request, Response: p.Response, ID: p.ID}
		if r, ok := s.At(p.Request).Event().(*ToolCallRequest); ok { // a broken element may lie
			c.Name = r.Name
		}
		calls = append(calls, c)
	}
	return calls
}

// An Inquiry is a question that a tool asked and the answer to it, if any.
type Inquiry struct {
	Turn     int
	Request  int // element index
	Response int // element index, -1 while the question is open
	ID       string
}

// Open reports whether the question has no answer.
func (q Inquiry) Open() bool { return q.Response < 0 }

// Inquiries returns the questions of tools in order, paired with their answers as [Stream.Calls]
// does.
func (s *Stream) Inquiries() []Inquiry {
	return s.pairs(KindInquiryRequest, KindInquiryResponse)
}

// pairs pairs the events of two kinds by their ids, by the rules of [Stream.Calls].
func (s *Stream) pairs(request, response Kind) []Inquiry {
	var pairs []Inquiry
	var open pending
	for i, turn := range s.events() {
		e := s.At(i)
		switch id := e.EventID(); e.Kind() {
		case request:
			open.add(turn, id, len(pairs))
			pairs = append(pairs, Inquiry{turn, i, -1, id})
		case response:
			if n, ok := open.take(turn, id); ok {
				pairs[n].Response = i
			}
		}
	}
	return pairs
}

// pending holds the requests of one turn that await a response: for each id, in order, their
// positions in the caller's result. Positions are added in rising order, from 0 on.
type pending struct {
	turn int
	byID map[string]queue
	next []int // for each position, the next waiting request with the same id, or -1
}

// A queue holds the first and the last waiting request with an id.
type queue struct{ first, last int }

func (p *pending) add(turn int, id string, n int) {
	p.enter(turn)
	for len(p.next) <= n {
		p.next = append(p.next, -1)
	}
	q, ok := p.byID[id]
	if ok {
		p.next[q.last] = n
		q.last = n
	} else {
		q = queue{n, n}
	}
	p.byID[id] = q
}

func (p *pending) take(turn int, id string) (int, bool) {
	p.enter(turn)
	q, ok := p.byID[id]
	switch {
	case !ok:
		return 0, false
	case q.first == q.last:
		delete(p.byID, id)
	default:
		p.byID[id] = queue{p.next[q.first], q.last}
	}
	return q.first, true
}

// enter discards the open requests of an earlier turn, because responses pair within a turn.
func (p *pending) enter(turn int) {
	if p.byID == nil {
		p.byID = map[string]queue{}
	}
	if p.turn != turn {
		p.turn = turn
		clear(p.byID)
	}
}
