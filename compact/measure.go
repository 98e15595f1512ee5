package compact

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
)

// A Sort is what a part of a prompt is, as far as its tokens are concerned.
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
	SortTools      Sort = "tools"      // definitions
)

// Sorts returns the sorts in the order in which they are shown.
func Sorts() []Sort {
	return []Sort{
		SortPrompt, SortAttachment, SortAnswer, SortReasoning, SortCall, SortRead, SortOutput,
		SortTools,
	}
}

// Tokens estimates how many tokens so many bytes of the sort are.
func (s Sort) Tokens(bytes int64) float64 { return float64(bytes) / s.bytesPerToken() }

// bytesPerToken are measured: 9,023 differences of recorded usage, see docs/compaction.md.
func (s Sort) bytesPerToken() float64 {
	switch s {
	case SortPrompt, SortAnswer:
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
	perCall    = 82   // tokens of a call and its result beside their content
	perMessage = 20   // tokens of a message beside its text
	perMedia   = 1500 // tokens of an image or document; providers bound them
)

// unlearned is the error that is told where a conversation has no usage to learn from:
// tokenizers of providers differ by about that much.
const unlearned = 0.2

// minSamples is how many differences of usage are needed to learn from.
const minSamples = 3

// An Estimator guesses tokens.
type Estimator struct {
	Scale   float64 // by which this conversation differs from what was measured
	Error   float64 // of an estimate, as a share of it
	Samples int     // exchanges that were learned from
}

func (e Estimator) tokens(s Sort, bytes int64) float64 {
	scale := e.Scale
	if scale == 0 {
		scale = 1
	}
	return scale * s.Tokens(bytes)
}

// A Size is how much something is.
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

// A Measure is what of a stream a model is given.
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
	base      events.Config
	estimator Estimator
}

func (j *job) measureOptions() measureOptions {
	return measureOptions{dedup: j.Dedup, contents: j.Contents, base: j.Base}
}

// measure says how much of a stream a model is given, with the definitions of its tools.
func (j *job) measure(s *events.Stream) (Measure, error) {
	o := j.measureOptions()
	o.estimator = j.estimator
	m, err := measure(s, o)
	if err != nil {
		return m, err
	}
	bytes := j.definitions(s)
	z := Size{Bytes: bytes, Tokens: j.estimator.tokens(SortTools, bytes)}
	m.BySort[SortTools] = z
	m.add(z)
	return m, nil
}

// definitions returns how large the definitions of the offered tools are.
func (j *job) definitions(s *events.Stream) int64 {
	table := j.declared(s)
	var n int64
	for name, v := range table {
		if _, known := j.Offered[name]; !known && name != "*" && table.enabled(name) {
			n += int64(len(name) + shown(v))
		}
	}
	for name, bytes := range j.Offered {
		if table.enabled(name) {
			n += bytes
		}
	}
	return n
}

// shown is how much of a tool's table a model is told.
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

// measure adds up what a model is given of a stream.
func measure(s *events.Stream, o measureOptions) (Measure, error) {
	view := dedup.Trim(s.Project().Stream)
	plan, err := deliveries(view, o.dedup, o.contents)
	if err != nil {
		return Measure{}, err
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
	for i, e := range view.All() {
		if !e.Kind().IsEvent() {
			continue
		}
		parts := o.parts(i, e, names[i], plan)
		for _, p := range parts {
			m.enter(p, names[i], turns[i])
			m.Element[i].add(p.Size)
		}
		m.Events++
	}
	return m, nil
}

// A part is a piece of an event.
type part struct {
	Size
	sort Sort
}

func (m *Measure) enter(p part, tool string, turn int) {
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

// parts returns what an event is to a model.
func (o measureOptions) parts(i int, e *events.Element, tool string, plan *dedup.Plan) []part {
	one := func(s Sort, bytes int64, extra float64) part {
		return part{Size{1, bytes, o.estimator.tokens(s, bytes) + extra}, s}
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
		return part{Size{0, b.Content.Size(), perMedia}, s}
	default:
		n := blockSize(b)
		return part{Size{0, n, o.estimator.tokens(s, n)}, s}
	}
}

func (o measureOptions) resource(s Sort, r *events.Resource, d dedup.Delivery) part {
	n := resourceSize(r, d)
	if d.Form == dedup.Whole && r.Formatted == nil && isMedia(r.MIMEType) {
		return part{Size{0, n, perMedia}, s}
	}
	return part{Size{0, n, o.estimator.tokens(s, n)}, s}
}

func isMedia(mime string) bool {
	for _, prefix := range []string{"image/", "audio/", "video/", "application/pdf"} {
		if len(mime) >= len(prefix) && mime[:len(prefix)] == prefix && mime != "image/svg+xml" {
			return true
		}
	}
	return false
}

// Calibrate learns from the usage that a stream has stored: what came between two requests
// made the second prompt so much larger.
func Calibrate(s *events.Stream, o measureOptions) (Estimator, error) {
	o.estimator = Estimator{Scale: 1}
	m, err := measure(s, o)
	if err != nil {
		return Estimator{}, err
	}
	samples := growth(dedup.Trim(s.Project().Stream), m)
	if len(samples) < minSamples {
		return Estimator{Scale: 1, Error: unlearned, Samples: len(samples)}, nil
	}
	grew, guessed := float64(prior), float64(prior)
	for _, g := range samples {
		grew, guessed = grew+g.tokens, guessed+g.guess
	}
	scale := grew / guessed
	faults := make([]float64, len(samples))
	for i, g := range samples {
		faults[i] = math.Abs(g.tokens-scale*g.guess) / g.tokens
	}
	return Estimator{Scale: scale, Error: covering(faults), Samples: len(samples)}, nil
}

// prior is how many tokens what was measured counts against the conversation's own usage: ten
// calls must not make an estimate worse than none.
const prior = 100_000

// A grown is how much a prompt grew, and how much it was guessed to.
type grown struct{ tokens, guess float64 }

// minGrowth is the least growth that says something about text: below it, what every message
// has counts for more.
const minGrowth = 200

// maxOdds is by how much a prompt can have grown otherwise than its text did. Beyond that it had
// another text: usage that was recorded before a compaction is of what that took out.
const maxOdds = 2

// tells reports whether a growth says something about how many tokens a text has.
func (g grown) tells() bool {
	return g.tokens >= minGrowth && g.guess >= minGrowth &&
		g.tokens <= maxOdds*g.guess && g.guess <= maxOdds*g.tokens
}

func growth(s *events.Stream, m Measure) []grown {
	var all []grown
	var before float64 // tokens of the last prompt
	sum, last := 0.0, 0.0
	opened := 0.0 // sum at the first event of the answer
	inAnswer := false
	for i, e := range s.All() {
		said := e.Kind() == events.KindChatResponse || e.Kind() == events.KindToolCallRequest
		if said && !inAnswer {
			opened = sum
		}
		if e.Kind().IsEvent() {
			inAnswer = said
		}
		sum += m.Element[i].Tokens
		u, ok := UsageOf(e)
		if !ok || u.Prompt() == 0 {
			continue
		}
		prompt := float64(u.Prompt())
		if g := (grown{prompt - before, opened - last}); before > 0 && g.tells() {
			all = append(all, g)
		}
		before, last = prompt, opened
	}
	return all
}

// covering returns what four of five of some faults are not above.
func covering(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[(len(v)*4+4)/5-1]
}
