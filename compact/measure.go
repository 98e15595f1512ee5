package compact

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
)

// A Sort is a kind of part of a prompt, which determines its tokens per byte.
type Sort string

// The sorts.
const (
	SortPrompt     Sort = "prompt"     // of the user
	SortAnswer     Sort = "answer"     // of the model
	SortReasoning  Sort = "reasoning"  //
	SortCall       Sort = "call"       // name and arguments
	SortRead       Sort = "read"       // of files
	SortOutput     Sort = "output"     // of other tools
	SortAttachment Sort = "attachment" //
	SortTools      Sort = "tools"      // tool definitions
	SortSystem     Sort = "system"     // the system prompt
)

// Sorts returns the sorts in display order.
func Sorts() []Sort {
	return []Sort{
		SortPrompt, SortAttachment, SortAnswer, SortReasoning, SortCall, SortRead, SortOutput,
		SortTools, SortSystem,
	}
}

// Tokens estimates the tokens of a number of bytes of the sort.
func (s Sort) Tokens(bytes int64) float64 { return float64(bytes) / s.bytesPerToken() }

// bytesPerToken returns measured values: from 9,023 differences of recorded usage, see
// docs/compaction.md.
func (s Sort) bytesPerToken() float64 {
	switch s {
	case SortPrompt, SortAnswer, SortSystem:
		return 3.79
	case SortReasoning:
		return 3.28
	case SortCall, SortTools:
		return 3.29
	case SortRead, SortAttachment:
		return 2.90
	default:
		return 2.82
	}
}

const (
	perCall    = 82   // tokens of a call and its result, besides their content
	perMessage = 20   // tokens of a message, besides its text
	perMedia   = 1500 // tokens of an image or document; providers bound them
)

// A Size is the size of something.
type Size struct {
	Events int
	Bytes  int64
	Tokens float64
}

func (z *Size) add(o Size) {
	z.Events += o.Events
	z.Bytes += o.Bytes
	z.Tokens += o.Tokens
}

// A Measure is the size of the part of a stream that a model is given.
type Measure struct {
	Size
	BySort  map[Sort]Size
	Tools   map[string]Size // calls and results
	Turns   []Size
	Element []Size // of each element of the projected stream
}

type measureOptions struct {
	dedup     dedup.Options
	contents  blobs.Reader
	estimator Estimator
	plan      *dedup.Plan // by which the stream is sent, nil to compute one
	known     float64     // tokens of the system prompt and the tools, 0 if unknown
}

func (j *job) measureOptions() measureOptions {
	return measureOptions{
		dedup: j.Dedup, contents: j.Contents,
		known: SortSystem.Tokens(j.System) + SortTools.Tokens(j.definitions(j.source)),
	}
}

// measure returns the size of the part of a stream that a model is given, including the system
// prompt and the definitions of its tools.
func (j *job) measure(s *events.Stream) (Measure, error) {
	m, err := measure(s, j.sized())
	if err != nil {
		return m, err
	}
	bytes := j.definitions(s)
	m.beside(SortTools, Size{Bytes: bytes, Tokens: SortTools.Tokens(bytes)})
	// Usage beyond the definitions is the system prompt, and the provider's own.
	defined := SortTools.Tokens(j.definitions(j.source))
	m.beside(SortSystem, Size{Bytes: j.System, Tokens: max(j.estimator.Base-defined, 0)})
	return m, nil
}

// beside adds text that is sent in addition to the conversation.
func (m *Measure) beside(s Sort, z Size) {
	m.BySort[s] = z
	m.add(z)
}

// definitions returns the size of the definitions of the offered tools.
func (o Options) definitions(s *events.Stream) int64 {
	table := o.declared(s)
	var n int64
	for _, name := range o.offered(table) {
		bytes, known := o.Offered[name]
		if !known {
			bytes = int64(len(name) + shown(table[name]))
		}
		n += bytes
	}
	return n
}

// shown returns the size of the part of a tool's table that a model is given.
func shown(v json.RawMessage) int {
	var told struct {
		Summary     json.RawMessage `json:"summary"`
		Description json.RawMessage `json:"description"`
		Examples    json.RawMessage `json:"examples"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	if json.Unmarshal(v, &told) != nil {
		return 0
	}
	return len(told.Summary) + len(told.Description) + len(told.Examples) + len(told.Parameters)
}

// measure adds up the parts of a stream that a model is given.
func measure(s *events.Stream, o measureOptions) (Measure, error) {
	view := dedup.Trim(s.Project().Stream)
	plan := o.plan
	if plan == nil {
		var err error
		if plan, err = deliveries(view, o.dedup, o.contents); err != nil {
			return Measure{}, err
		}
	}
	m := Measure{
		BySort: map[Sort]Size{}, Tools: map[string]Size{},
		Turns: make([]Size, len(view.Turns())), Element: make([]Size, view.Len()),
	}
	names := map[int]string{}
	for _, c := range view.Calls() {
		names[c.Request], names[c.Response] = c.Name, c.Name
	}
	delete(names, -1)
	turns := view.TurnOf()
	var a answer
	for i, e := range InOrder(view) {
		if !e.Kind().IsEvent() {
			continue
		}
		for _, p := range o.parts(i, e, names[i], plan) {
			m.enter(i, p, names[i], turns[i])
		}
		m.Events++
		scale := o.estimator.scale()
		if hidden := a.hidden(i, e, m.Element[i].Tokens/scale); hidden > 0 {
			thought := part{Size{Tokens: scale * hidden}, SortReasoning}
			m.enter(a.thought, thought, "", turns[a.thought])
		}
	}
	return m, nil
}

// An answer is consecutive output of the model, up to some element.
type answer struct {
	tokens  float64
	thought int // the last of its reasoning elements
	open    bool
	thinks  bool
}

// hidden adds an element, and returns the hidden tokens of reasoning of the answer that ends with
// it: some providers show only a part of the reasoning, or none, but are sent all of it again.
// Usage has the total.
func (a *answer) hidden(i int, e *events.Element, tokens float64) float64 {
	said := e.Kind() == events.KindChatResponse || e.Kind() == events.KindToolCallRequest
	if !said || !a.open {
		*a = answer{}
	}
	if a.open = said; !said {
		return 0
	}
	a.tokens += tokens
	if r, ok := e.Event().(*events.ChatResponse); ok && r.Form == events.FormReasoning {
		a.thought, a.thinks = i, true
	}
	u, ok := UsageOf(e)
	if !ok || !a.thinks {
		return 0
	}
	more := max(float64(u.Output)-a.tokens, 0)
	a.tokens += more
	return more
}

// A part is a part of an event.
type part struct {
	Size
	sort Sort
}

// enter adds a part of an element.
func (m *Measure) enter(i int, p part, tool string, turn int) {
	m.Element[i].add(p.Size)
	m.Bytes += p.Bytes
	m.Tokens += p.Tokens
	by := m.BySort[p.sort]
	by.add(p.Size)
	m.BySort[p.sort] = by
	if tool != "" {
		of := m.Tools[tool]
		of.add(p.Size)
		m.Tools[tool] = of
	}
	m.Turns[turn].add(p.Size)
}

// parts returns the parts of an event as a model receives them.
func (o measureOptions) parts(i int, e *events.Element, tool string, plan *dedup.Plan) []part {
	one := func(s Sort, bytes int64, extra float64) part {
		return part{Size{1, bytes, o.estimator.tokens(s, bytes) + o.estimator.scale()*extra}, s}
	}
	switch ev := e.Event().(type) {
	case *events.ChatRequest:
		all := []part{one(SortPrompt, int64(len(ev.Content)), perMessage)}
		for n := range ev.Resources {
			r := &ev.Resources[n]
			all = append(all, o.resource(SortAttachment, r, plan.Block(i, n)))
		}
		return all
	case *events.ChatResponse:
		if ev.Form == events.FormReasoning {
			return []part{one(SortReasoning, int64(len(ev.Text)), 0)}
		}
		return []part{one(SortAnswer, int64(len(ev.Text)+len(ev.Data)), perMessage)}
	case *events.ToolCallRequest:
		return []part{one(SortCall, int64(len(ev.Name)+len(ev.Arguments)), perCall)}
	case *events.ToolCallResponse:
		sort := SortOutput
		if reads(tool) {
			sort = SortRead
		}
		all := []part{one(sort, 0, 0)}
		for n := range ev.Blocks {
			all = append(all, o.block(sort, &ev.Blocks[n], plan.Block(i, n)))
		}
		return all
	default:
		return nil
	}
}

// reads reports whether a tool is known to return files.
func reads(tool string) bool { return dedup.TradeOf(tool) == dedup.Reader }

func (o measureOptions) block(s Sort, b *events.Block, d dedup.Delivery) part {
	switch {
	case b.Resource != nil:
		return o.resource(s, b.Resource, d)
	case b.Type == events.BlockImage || b.Type == events.BlockAudio:
		return part{Size{0, b.Content.Size(), o.estimator.scale() * perMedia}, s}
	default:
		n := blockSize(b)
		return part{Size{0, n, o.estimator.tokens(s, n)}, s}
	}
}

func (o measureOptions) resource(s Sort, r *events.Resource, d dedup.Delivery) part {
	n := resourceSize(r, d)
	if d.Form == dedup.Whole && r.Formatted == nil && isMedia(r.MIMEType) {
		return part{Size{0, n, o.estimator.scale() * perMedia}, s}
	}
	return part{Size{0, n, o.estimator.tokens(s, n)}, s}
}

func isMedia(mime string) bool {
	return mime != "image/svg+xml" && slices.ContainsFunc(
		[]string{"image/", "audio/", "video/", "application/pdf"},
		func(prefix string) bool { return strings.HasPrefix(mime, prefix) })
}
