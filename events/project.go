package events

import "github.com/go-json-experiment/json/jsontext"

// SummaryRequest is the line of the user before a summary, as jp words it.
const SummaryRequest = "[Summary of previous conversation]"

// A Projection is a stream as a model is to be given it, with its compactions
// applied and taken out.
type Projection struct {
	Stream  *Stream
	Origins []Origin // one for each turn of Stream
}

// An Origin says which turns of the source a projected turn stands for: one that
// was kept, or several that a summary replaces.
type Origin struct {
	From, To int // both included, counted from 0; the same for a kept turn
	Summary  bool
}

// Project applies the stream's compactions to a copy. For each turn the latest
// compaction wins, separately for summary, reasoning and tool calls, and the
// later element where times are equal. A summary replaces whole turns; where it
// won adjacent turns they become one turn. Everything that is no event passes
// through in place.
//
// In one place the result is not jp's: the tool that a stripped response names
// is that of its own call, not of the last call in the stream with that id.
func (s *Stream) Project() Projection {
	compactions := s.compactions()
	if len(compactions) == 0 {
		return Projection{Stream: s.Clone(), Origins: originsOf(len(s.Turns()))}
	}
	p := projector{
		source: s,
		won:    resolvePolicies(compactions, len(s.Turns())),
		turn:   -1,
	}
	for i, turn := range s.TurnOf() {
		p.element(i, turn)
	}
	return Projection{Stream: s.rebuild(p.out), Origins: p.origins}
}

// originsOf returns the origins of n turns that are all kept.
func originsOf(n int) []Origin {
	origins := make([]Origin, n)
	for i := range origins {
		origins[i] = Origin{From: i, To: i}
	}
	return origins
}

// A projector builds a projection, element by element.
type projector struct {
	source  *Stream
	won     []turnPolicy
	out     []piece
	origins []Origin
	turn    int        // the turn that the last origin is for, -1 at the start
	tools   *toolNames // filled when the first response is stripped
}

func (p *projector) element(i, turn int) {
	e := p.source.At(i)
	switch {
	case e.Kind() == KindCompaction:
	case !e.Kind().IsEvent():
		p.out = append(p.out, piece{e, i})
	case p.won[turn].summary != nil:
		p.summarize(e, turn)
	default:
		p.event(i, turn)
	}
}

// summarize emits the summary at the first event of the turns that it replaces
// in a row.
func (p *projector) summarize(e *Element, turn int) {
	if turn == p.turn {
		return
	}
	p.turn = turn
	summary := p.won[turn].summary
	// Of compactions that agree in range and time one alone wins anything, so
	// that identity is enough.
	if turn > 0 && summary == p.won[turn-1].summary {
		p.origins[len(p.origins)-1].To = turn
		return
	}
	p.origins = append(p.origins, Origin{From: turn, To: turn, Summary: true})
	at := e.Time()
	p.out = append(p.out,
		added(newElement(at, &TurnStart{}, Metadata{})),
		added(newElement(at, &ChatRequest{Content: SummaryRequest}, Metadata{})),
		added(newElement(at, &ChatResponse{Text: *summary.Summary}, Metadata{})))
}

// event emits what reasoning and tool policies leave of an event.
func (p *projector) event(i, turn int) {
	e := p.projected(i, p.won[turn])
	if e == nil {
		return
	}
	p.out = append(p.out, piece{e, i})
	if p.turn != turn {
		p.turn = turn
		p.origins = append(p.origins, Origin{From: turn, To: turn})
	}
}

// projected returns element i under policy won, nil when it is dropped.
func (p *projector) projected(i int, won turnPolicy) *Element {
	e := p.source.At(i)
	switch ev := e.Event().(type) {
	case *ChatResponse:
		if won.reasoning && ev.Form == FormReasoning {
			return nil
		}
	case *ToolCallRequest:
		return stripRequest(e, ev, won.tools)
	case *ToolCallResponse:
		return p.stripResponse(i, ev, won.tools)
	}
	return e
}

func stripRequest(e *Element, ev *ToolCallRequest, policy ToolCallPolicy) *Element {
	if policy.Omit {
		return nil
	}
	if !policy.Request {
		return e
	}
	stripped := *ev
	stripped.Arguments = jsontext.Value("{}")
	return e.With(&stripped)
}

func (p *projector) stripResponse(i int, ev *ToolCallResponse, policy ToolCallPolicy) *Element {
	e := p.source.At(i)
	if policy.Omit {
		return nil
	}
	if !policy.Response {
		return e
	}
	status := "success"
	if ev.IsError {
		status = "error"
	}
	stripped := *ev
	stripped.Blocks = []Block{textResult("[compacted] " + p.tool(i, ev.ID) + ": " + status)}
	return e.With(&stripped)
}

// tool returns the name of the tool whose response is element i.
func (p *projector) tool(i int, id string) string {
	if p.tools == nil {
		p.tools = newToolNames(p.source)
	}
	if name, ok := p.tools.byResponse[i]; ok {
		return name
	}
	// A response outside of any call: jp's way, the last request with the id.
	if name, ok := p.tools.byID[id]; ok {
		return name
	}
	return "unknown"
}

// toolNames knows the names of the tools that were called.
type toolNames struct {
	byResponse map[int]string // by element index
	byID       map[string]string
}

func newToolNames(s *Stream) *toolNames {
	names := &toolNames{map[int]string{}, map[string]string{}}
	for _, c := range s.Calls() {
		names.byID[c.ID] = c.Name
		if !c.Open() {
			names.byResponse[c.Response] = c.Name
		}
	}
	return names
}
