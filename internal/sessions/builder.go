package sessions

import (
	"cmp"
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

// Options has the inputs of a conversation besides its source.
type Options struct {
	Writer events.Writer // stores contents as blobs
	// Root is the directory that becomes $WORKSPACE, as named on the machine on which the session
	// ran. Home becomes $HOME; if empty, it is the home directory that contains the session's
	// directory or Root.
	Root, Home string
	// Redact returns text without its secrets and counts them by rule; nil leaves text unchanged.
	Redact func(at Place, text []byte, count map[string]int) []byte
	// Refuse returns an error for a text that must not be kept at all; nil refuses nothing.
	Refuse func(text []byte) error
	// MaxBlob and MaxStream limit the size of a blob and of the stream, in bytes; 0 means no limit.
	MaxBlob, MaxStream int64
}

// A Place is the position of a text: in the event with a key, or outside of events if Key is "".
type Place struct {
	Session Name
	Key     string
	// Before is what is before the text in JSON, see [secrets.Before], or "".
	Before string
}

// ErrTooLarge reports a session whose conversation would exceed MaxStream.
var ErrTooLarge = errors.New("its conversation would be larger than storage.max_stream_bytes")

// ErrTooMany reports a session whose conversations, including rewound forks, exceed the limit
// together.
var ErrTooMany = fmt.Errorf(
	"its conversations would be larger than %d times storage.max_stream_bytes", maxStreams)

// maxKeys limits the record keys in memory, each up to 600 bytes with what is stored for it.
const maxKeys = 1 << 20

// ErrManyKeys reports a session with more records than maxKeys.
var ErrManyKeys = fmt.Errorf("it has more than %d records", maxKeys)

// A Builder builds the conversation of one session from the calls of a [Dialect], in order. An
// event without a time gets that of the event before it. Keys are the source's own names of
// records, without the part that differs between copies of a conversation.
//
// A Builder remembers its first error and does nothing after it, so a dialect need not check.
type Builder struct {
	keeper
	heading
	path
	clock

	current  *turn
	keys     map[string]struct{}
	all      *int64 // size of all conversations of the source
	ordinal  int    // of elements with records
	effort   string // reasoning effort of the models that follow
	ended    bool
	forks    []*Conversation
	rewound  map[string][]string // names of the turns that each fork has of its own
	brought  []string            // names of summaries
	children []*Builder
}

// NewBuilder returns a builder for a session.
func NewBuilder(s Session, o Options) *Builder {
	if o.Home == "" {
		o.Home = HomeOf(cmp.Or(s.Dir, o.Root))
	}
	b := &Builder{
		keeper: keeper{
			options: o, session: s, places: newPlaces(o.Root, o.Home), report: newReport(),
			told: new(int), ledger: newLedger(),
		},
		heading: heading{labels: map[string]string{}},
		path:    path{calls: map[string]int{}},
		current: &turn{}, keys: map[string]struct{}{}, all: new(int64),
		rewound: map[string][]string{},
	}
	b.said, b.full = b.ledger, b.tellUnsaid
	b.Said(s.Dir) // which a label names
	return b
}

// Child returns the builder of another session in the same source. Finish of b finishes it too.
func (b *Builder) Child(s Session) *Builder {
	s.Export = nil // only the session itself begins with it
	c := NewBuilder(s, b.options)
	c.all, c.told, c.left = b.all, b.told, b.left
	b.children = append(b.children, c)
	return c
}

func newReport() Report {
	return Report{
		Records: map[string]int{}, Dropped: map[string]int64{}, Redacted: map[string]int{},
		Outside: map[string]int{},
	}
}

// Seen reports whether it was called with the key before, and remembers the key.
func (b *Builder) Seen(key string) bool {
	_, seen := b.keys[key]
	b.keys[key] = struct{}{}
	if len(b.keys) > maxKeys {
		b.Fail(ErrManyKeys)
	}
	return seen
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

// Injected adds text that the agent wrote in the person's name, and files that it gave the model:
// caveats, skills, output of the agent's own commands, pages of a document. A prompt that follows
// directly belongs to the same turn.
func (b *Builder) Injected(key string, at time.Time, text string, attached ...Attachment) {
	md := events.Metadata{}.With(MetadataInjected, jsontext.Value("true"))
	switch {
	case b.current.begun() && b.current.over:
		b.endTurn(true)
	case b.current.begun():
		b.request(key, b.moment(at), text, attached, md)
		return
	}
	b.open(key, at, text, attached, md)
	b.current.injected = true
}

// open begins a turn. Records since the turn before stay with that, as an import that ends before
// this one has them. Its turn_start is a microsecond before its request: with the same time it
// would look like one that a repair added (docs/merge.md, "Legacy").
func (b *Builder) open(
	key string, at time.Time, text string, attached []Attachment, md events.Metadata,
) {
	if len(b.turns) > 0 {
		b.endTurn(true)
	}
	at = b.moment(at)
	b.current.before = b.model
	b.current.drafts = append(b.current.drafts, draft{
		at: at.Add(-time.Microsecond), event: &events.TurnStart{},
	})
	b.request(key, at, text, attached, md)
}

// Further adds a prompt that a person sent while the model was answering.
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

// begun reports whether the turn has events.
func (t *turn) begun() bool { return len(t.drafts) > 0 }

// begin begins an event of an agent. If no turn was begun, it begins one with a split request.
func (b *Builder) begin(key string, at time.Time) {
	if !b.current.begun() {
		b.open(key+events.SplitSuffix, at, events.SplitRequest, nil, split())
	}
	b.current.injected = false
	b.key = key
}

// split marks the request of a turn that continues the one before: the agent compacted the
// conversation in the middle of it, or the source begins there.
func split() events.Metadata {
	return events.Metadata{}.With(MetadataSplit, jsontext.Value("true"))
}

func keyed(md events.Metadata, key string) events.Metadata {
	if key == "" {
		return md
	}
	return md.WithText(MetadataSource, key)
}

// Reasoning adds the model's reasoning. md has what its provider requires to accept it again, such
// as a signature.
func (b *Builder) Reasoning(key string, at time.Time, reply, text string, md events.Metadata) {
	b.begin(key, at)
	b.proven(md)
	e := &events.ChatResponse{Form: events.FormReasoning, Text: b.Text(text)}
	if e.Text != text {
		md = events.Metadata{} // the signature is of another text than the one that is kept
	}
	b.add(draft{at: b.moment(at), event: e, md: keyed(md, key), reply: reply})
}

// Message adds text of the model.
func (b *Builder) Message(key string, at time.Time, reply, text string, md events.Metadata) {
	b.begin(key, at)
	b.report.Answers++
	b.proven(md)
	e := &events.ChatResponse{Form: events.FormMessage, Text: b.Text(text)}
	b.add(draft{at: b.moment(at), event: e, md: keyed(md, key), reply: reply})
}

// A Call is a call of a tool as the model wrote it.
type Call struct {
	ID, Name  string
	Arguments jsontext.Value // wrapped in an object as "input" if it is not one
	Metadata  events.Metadata
}

// Call adds a call of a tool.
func (b *Builder) Call(key string, at time.Time, reply string, c Call) {
	b.begin(key, at)
	b.report.Calls++
	b.proven(c.Metadata)
	b.Said(c.ID)
	b.Said(c.Name)
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

// object returns arguments as an object that a stream can store.
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

// Subagent records that a call started another session.
func (b *Builder) Subagent(call string, n Name) {
	for i := range slices.Backward(b.current.drafts) {
		d := &b.current.drafts[i]
		if c, ok := d.event.(*events.ToolCallRequest); ok && c.ID == call {
			d.md = d.md.WithText(MetadataSubagent, n.String())
			return
		}
	}
}

// Usage records the tokens of an answer. The largest output reported for an answer counts, since
// agents repeat the figures while an answer grows.
func (b *Builder) Usage(reply string, u compact.Usage) {
	if b.current.usage == nil {
		b.current.usage = map[string]compact.Usage{}
	}
	if old, ok := b.current.usage[reply]; !ok || u.Output >= old.Output {
		b.current.usage[reply] = u
	}
}

// Model sets the model that answers from here on, with jp's name of its provider.
func (b *Builder) Model(at time.Time, provider, name string) {
	b.Said(name)
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

// efforts maps the agents' words for reasoning effort to jp's.
var efforts = map[string]string{
	"none": "none", "minimal": "xlow", "low": "low", "medium": "medium", "high": "high",
	"xhigh": "xhigh", "max": "max",
}

// Effort sets the reasoning effort of the models that follow. A level unknown to jp resets it.
func (b *Builder) Effort(level string) { b.effort = efforts[level] }

func configured(m model) any {
	all := map[string]any{"id": map[string]string{"provider": m.provider, "name": m.name}}
	if m.effort != "" {
		all["parameters"] = map[string]any{"reasoning": map[string]string{"effort": m.effort}}
	}
	return map[string]any{"model": all}
}

// Record keeps a record that has no counterpart in a conversation, as JSON in one line.
func (b *Builder) Record(at time.Time, kind string, line []byte) {
	b.report.Records[kind]++
	*b.told++
	r := &b.current.records
	kept := b.appendJSON(b.json[:0], line)
	r.add(b.moment(at), kind, kept)
	if cap(kept) <= maxKept {
		b.json = kept
	}
	for b.portion(r.lines.Bytes()) < r.lines.Len() && b.err == nil {
		r.writePart(&b.keeper) // a turn may have more records than fit in memory
	}
}

// Telling calls tell for a record, and keeps the record itself if tell added nothing: a record of
// an unexpected form is not lost. Nor is a text that it has beside what is told.
func (b *Builder) Telling(at time.Time, kind string, line []byte, tell func()) {
	was := *b.told
	b.later = false
	switch tell(); {
	case *b.told == was:
		b.Record(at, kind, line)
	case !b.later:
		b.beside(kind, line)
	}
}

// Odd keeps a value of an unexpected type.
func (b *Builder) Odd(at time.Time, kind string, v jsontext.Value) {
	if v != nil {
		b.Record(at, kind, v)
	}
}

// Complete marks the current turn as complete.
func (b *Builder) Complete() { b.current.over = true }

// End marks the session as ended.
func (b *Builder) End() { b.ended = true }
