package events

import "github.com/go-json-experiment/json/jsontext"

// SummaryRequest is the user's line before a summary, as jp words it.
const SummaryRequest = "[Summary of previous conversation]"

// A Projection is a stream as a model receives it, with its compactions applied and removed.
type Projection struct {
	Stream  *Stream
	Origins []Origin // one for each turn of Stream
}

// An Origin identifies the turns of the source that a projected turn represents: one that was kept,
// or several that a summary replaces.
type Origin struct {
	From, To int // both included, counted from 0; equal for a kept turn
	Summary  bool
}

// Project applies the stream's compactions to a copy. For each turn the latest compaction wins,
// separately for summary, reasoning and tool calls; if times are equal, the later element wins. A
// summary replaces entire turns, and adjacent turns that it replaces become one turn. Elements that
// are not events are kept in place.
//
// The result differs from jp's in one case: a stripped response names the tool of its own call, not
// of the last call in the stream with that id.
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
	turn    int        // the turn of the last origin, -1 at the start
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

// summarize emits a summary at the first event of a run of turns that it replaces.
func (p *projector) summarize(e *Element, turn int) {
	if turn == p.turn {
		return
	}
	p.turn = turn
	summary := p.won[turn].summary
	// Among compactions with the same range and time only one wins, so comparing pointers is
	// enough.
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

// event emits an event as the reasoning and tool policies leave it.
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

// projected returns element i under policy won, or nil if the policy drops it.
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
	// For a response that belongs to no call, do as jp does: take the last request with the id.
	if name, ok := p.tools.byID[id]; ok {
		return name
	}
	return "unknown"
}

// toolNames finds the names of the tools that were called.
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
