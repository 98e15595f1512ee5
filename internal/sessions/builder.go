package sessions

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Options is what a conversation depends on beside its source.
type Options struct {
	Writer events.Writer // takes the contents
	// Root is the directory that becomes $WORKSPACE, as the machine on which the session ran
	// named it. Home becomes $HOME; "" is the one that Root or the session's directory lies in.
	Root, Home string
	// Redact returns text without its secrets and counts them by rule; nil changes nothing.
	Redact func(at Place, text []byte, count map[string]int) []byte
	// Refuse returns an error for a text that must not be kept at all; nil refuses nothing.
	Refuse func(text []byte) error
	// MaxBlob and MaxStream bound a content and the skeleton, in bytes; 0 is no bound.
	MaxBlob, MaxStream int64
}

// A Place is where a text is: in the event of a session with a key, or beside its events where
// there is none.
type Place struct {
	Session Name
	Key     string
}

// ErrTooLarge is for a session whose conversation would exceed MaxStream.
var ErrTooLarge = errors.New("its conversation would be larger than storage.max_stream_bytes")

// ErrTooMany is for a session whose conversations, with what was rewound in it, would be that.
var ErrTooMany = fmt.Errorf(
	"its conversations would be larger than %d times storage.max_stream_bytes", maxStreams)

// maxKeys is how many names of records stand in memory, up to 600 bytes each with what is known by
// them.
const maxKeys = 1 << 20

// ErrManyKeys is for a session of more records than that.
var ErrManyKeys = fmt.Errorf("it has more than %d records", maxKeys)

// A Builder makes the conversation of one session from what a [Dialect] tells it, in order. Times
// that are zero are that of what came before. Keys are the source's own names of what is told,
// without those of one conversation that another has.
//
// A Builder remembers its first error and does nothing after it, so that a dialect need not ask.
type Builder struct {
	keeper
	heading
	path

	elements []*events.Element // of the turns that are over
	current  *turn
	calls    map[string]int // where in elements the result of a call is, of turns that are over
	keys     map[string]struct{}
	first    time.Time
	last     time.Time
	size     int64
	all      *int64 // size of all conversations of the source
	ordinal  int    // of elements of records
	effort   string // that models are asked for from here on
	model    model
	base     model // the first one
	ended    bool
	forks    []*Conversation
	rewound  map[string][]string // names of what each fork has of its own
	children []*Builder
}

type model struct{ provider, name, effort string }

// NewBuilder returns a builder for a session.
func NewBuilder(s Session, o Options) *Builder {
	if o.Home == "" {
		o.Home = HomeOf(or(s.Dir, o.Root))
	}
	return &Builder{
		keeper: keeper{
			options: o, session: s, places: newPlaces(o.Root, o.Home), report: newReport(),
			told: new(int),
		},
		heading: heading{labels: map[string]string{}},
		current: &turn{}, calls: map[string]int{}, keys: map[string]struct{}{}, all: new(int64),
		rewound: map[string][]string{},
	}
}

// Child returns the builder of another session that the same source holds. It is finished with b.
func (b *Builder) Child(s Session) *Builder {
	s.Export = nil // which only the session itself begins with
	c := NewBuilder(s, b.options)
	c.all, c.told = b.all, b.told
	b.children = append(b.children, c)
	return c
}

func newReport() Report {
	return Report{
		Records: map[string]int{}, Dropped: map[string]int64{}, Redacted: map[string]int{},
		Outside: map[string]int{},
	}
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// In says in which directory something happened. What a session did outside of the root is a part
// of it, and whoever imports it is told.
func (b *Builder) In(dir string) {
	rest, below := strings.CutPrefix(dir, b.options.Root)
	if dir != "" && b.options.Root != "" && (!below || rest != "" && inName(rest[0])) {
		b.report.Outside[dir]++
	}
}

// Seen reports whether a key was told before, and notes it.
func (b *Builder) Seen(key string) bool {
	_, seen := b.keys[key]
	b.keys[key] = struct{}{}
	if len(b.keys) > maxKeys {
		b.Fail(ErrManyKeys)
	}
	return seen
}

// moment returns the time of something: what it says, else that of what came before.
func (b *Builder) moment(at time.Time) time.Time {
	if at.IsZero() || at.Year() < 1 || at.Year() > 9999 {
		at = b.last
	}
	if at.IsZero() {
		return time.Unix(0, 0).UTC() // nothing has told a time yet
	}
	at = at.UTC().Truncate(time.Microsecond)
	if b.first.IsZero() {
		b.first = at
	}
	b.last = at
	return at
}

// Prompt begins a turn with what a person asked.
func (b *Builder) Prompt(key string, at time.Time, text string, attached ...Attachment) {
	if b.current.begun() && b.current.injected {
		b.current.injected = false
		b.Further(key, at, text, attached...)
		return
	}
	b.endTurn(true)
	b.report.Prompts++
	b.open(key, at, text, attached, events.Metadata{})
}

// Injected adds what the agent said in the person's name: caveats, skills, what a command of the
// agent printed. A prompt that follows directly is of the same turn.
func (b *Builder) Injected(key string, at time.Time, text string) {
	md := events.Metadata{}.With(MetadataInjected, jsontext.Value("true"))
	switch {
	case b.current.begun() && b.current.over:
		b.endTurn(true)
	case b.current.begun():
		b.request(key, b.moment(at), text, nil, md)
		return
	}
	b.open(key, at, text, nil, md)
	b.current.injected = true
}

// open begins a turn. Its turn_start is a microsecond before its request: one of the same time
// reads as one that repairing put there (docs/merge.md, "Legacy").
func (b *Builder) open(
	key string, at time.Time, text string, attached []Attachment, md events.Metadata,
) {
	at = b.moment(at)
	b.current.before = b.model
	b.current.drafts = append(b.current.drafts, draft{
		at: at.Add(-time.Microsecond), event: &events.TurnStart{},
	})
	b.request(key, at, text, attached, md)
}

// Further adds what a person asked while the model answered.
func (b *Builder) Further(key string, at time.Time, text string, attached ...Attachment) {
	if !b.current.begun() {
		b.Prompt(key, at, text, attached...)
		return
	}
	b.report.Prompts++
	b.request(key, b.moment(at), text, attached, events.Metadata{})
}

func (b *Builder) request(
	key string, at time.Time, text string, attached []Attachment, md events.Metadata,
) {
	b.key = key
	request := &events.ChatRequest{Content: b.Text(text)}
	for _, a := range attached {
		request.Resources = append(request.Resources, b.resource(a))
	}
	b.add(draft{at: at, event: request, md: keyed(md, key)})
}

// begun reports whether anything of the turn was told.
func (t *turn) begun() bool { return len(t.drafts) > 0 }

// begin begins an event of an agent, and a turn for it where it had not been asked.
func (b *Builder) begin(key string, at time.Time) {
	if !b.current.begun() {
		b.open(key+"^", at, splitRequest, nil, split())
	}
	b.current.injected = false
	b.key = key
}

// splitRequest is the request of a turn that goes on with the one before: the agent compacted the
// conversation in its middle, or the source begins there.
const splitRequest = "Continue."

func split() events.Metadata {
	return events.Metadata{}.With(MetadataSplit, jsontext.Value("true"))
}

func keyed(md events.Metadata, key string) events.Metadata {
	if key == "" {
		return md
	}
	return md.WithText(MetadataSource, key)
}

// Reasoning adds what the model thought. md has what its provider needs to take it back, such as
// a signature.
func (b *Builder) Reasoning(key string, at time.Time, reply, text string, md events.Metadata) {
	b.begin(key, at)
	e := &events.ChatResponse{Form: events.FormReasoning, Text: b.Text(text)}
	if e.Text != text {
		md = events.Metadata{} // what was signed is not what is kept
	}
	b.add(draft{at: b.moment(at), event: e, md: keyed(md, key), reply: reply})
}

// Message adds what the model said.
func (b *Builder) Message(key string, at time.Time, reply, text string, md events.Metadata) {
	b.begin(key, at)
	b.report.Answers++
	e := &events.ChatResponse{Form: events.FormMessage, Text: b.Text(text)}
	b.add(draft{at: b.moment(at), event: e, md: keyed(md, key), reply: reply})
}

// A Call is a call of a tool as the model wrote it.
type Call struct {
	ID, Name  string
	Arguments jsontext.Value // what is no object stands in one, as "input"
	Metadata  events.Metadata
}

// Call adds a call of a tool.
func (b *Builder) Call(key string, at time.Time, reply string, c Call) {
	b.begin(key, at)
	b.report.Calls++
	e := &events.ToolCallRequest{ID: c.ID, Name: c.Name, Arguments: b.JSON(object(c.Arguments))}
	b.add(draft{at: b.moment(at), event: e, md: keyed(c.Metadata, key), reply: reply})
}

// Result adds the result of a call.
func (b *Builder) Result(key string, at time.Time, call string, isError bool, blocks ...Block) {
	b.begin(key, at)
	b.report.Results++
	r := &events.ToolCallResponse{ID: call, IsError: isError}
	for _, block := range blocks {
		r.Blocks = append(r.Blocks, b.block(block)...)
	}
	b.add(draft{at: b.moment(at), event: r, md: keyed(events.Metadata{}, key)})
}

// object returns arguments as an object that a stream can hold.
func object(v jsontext.Value) jsontext.Value {
	switch {
	case len(v) == 0:
		return jsontext.Value("{}")
	case v.Kind() == '{' && events.Loadable(v) == nil:
		return v
	}
	input, err := json.Marshal(string(v))
	if v.Kind() == '"' && v.IsValid() {
		input, err = v.Clone(), nil
	}
	if err != nil {
		input, _ = json.Marshal(strings.ToValidUTF8(string(v), "\uFFFD"))
	}
	return slices.Concat([]byte(`{"input":`), input, []byte{'}'})
}

// Subagent says that a call started another session.
func (b *Builder) Subagent(call string, n Name) {
	for i := range slices.Backward(b.current.drafts) {
		d := &b.current.drafts[i]
		if c, ok := d.event.(*events.ToolCallRequest); ok && c.ID == call {
			d.md = d.md.WithText(MetadataSubagent, n.String())
			return
		}
	}
}

// Usage says what an answer cost; the greatest output that is told of one counts, since agents
// repeat the figures while they grow.
func (b *Builder) Usage(reply string, u compact.Usage) {
	if b.current.usage == nil {
		b.current.usage = map[string]compact.Usage{}
	}
	if old, ok := b.current.usage[reply]; !ok || u.Output >= old.Output {
		b.current.usage[reply] = u
	}
}

// Model says which model answers from here on, by jp's name of its provider.
func (b *Builder) Model(at time.Time, provider, name string) {
	next := model{provider, name, b.effort}
	if name == "" || next == b.model {
		return
	}
	was := b.model
	b.model = next
	if was.name == "" {
		b.base = next
		return
	}
	delta, err := json.Marshal(map[string]any{"assistant": configured(next)},
		json.Deterministic(true))
	if err != nil {
		b.Fail(fmt.Errorf("model %q: %w", name, err))
		return
	}
	d := draft{at: b.moment(at), event: &events.ConfigDelta{Delta: delta}}
	if b.current.begun() {
		b.add(d)
	} else if b.err == nil {
		b.push(d.element())
	}
}

// efforts are the words of agents for how much a model thinks that jp has another word for, or
// the same.
var efforts = map[string]string{
	"none": "none", "minimal": "xlow", "low": "low", "medium": "medium", "high": "high",
	"xhigh": "xhigh", "max": "max",
}

// Effort says how much the models that are told next are asked to think. What jp has no word for
// says nothing.
func (b *Builder) Effort(level string) { b.effort = efforts[level] }

func configured(m model) any {
	all := map[string]any{"id": map[string]string{"provider": m.provider, "name": m.name}}
	if m.effort != "" {
		all["parameters"] = map[string]any{"reasoning": map[string]string{"effort": m.effort}}
	}
	return map[string]any{"model": all}
}

// Record keeps a record that has no counterpart, as JSON in one line.
func (b *Builder) Record(at time.Time, kind string, line []byte) {
	b.report.Records[kind]++
	*b.told++
	r := &b.current.records
	r.add(b.moment(at), kind, b.JSON(line))
	for b.portion(r.lines.Bytes()) < r.lines.Len() && b.err == nil {
		r.writePart(&b.keeper) // a turn may have more than memory holds
	}
}

// Telling tells what a record says, and keeps the record itself where nothing came of it: what has
// another form than it should is not lost.
func (b *Builder) Telling(at time.Time, kind string, line []byte, tell func()) {
	was := *b.told
	if tell(); *b.told == was {
		b.Record(at, kind, line)
	}
}

// Odd keeps what stands in the place of something else.
func (b *Builder) Odd(at time.Time, kind string, v jsontext.Value) {
	if v != nil {
		b.Record(at, kind, v)
	}
}

// Complete says that nothing more belongs to the turn that is being told.
func (b *Builder) Complete() { b.current.over = true }

// End says that the session ended.
func (b *Builder) End() { b.ended = true }
