package copilot

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"hash/maphash"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/go-json-experiment/json/jsontext"
)

// Read implements [sessions.Dialect].
func (Dialect) Read(
	ctx context.Context, s sessions.Session, until int64, b *sessions.Builder,
) (sessions.Version, error) {
	m := newMapper(s, b)
	m.assets = map[string]asset{}
	m.LeaveOut(left...)
	v, err := sessions.ReadLines(ctx, s.Path, until, b, m.line)
	if err == nil {
		m.finish()
	}
	return v, err
}

// A mapper passes the events of a session, or of a sub-agent in it, to a builder.
type mapper struct {
	*sessions.Builder
	session sessions.Session
	seed    maphash.Seed
	sums    map[uint64]bool // of the events so far, with a random seed
	number  int
	model   string
	calls   map[string]bool // calls that were added
	before  map[string]int  // number of turns before each event
	prompts map[string]bool // which of these events are prompts
	point   int             // number of turns to keep if the person went back; else -1
	busy    bool            // the last answer calls tools
	reply   string          // its name
	records bool            // there are usage records, one per answer
	counted usage           // tokens of the answers since the last totals
	own     usage           // tokens of the last answer
	totals  map[string]usage
	agents  map[string]*mapper
	assets  map[string]asset // of the session and its sub-agents
	held    int              // bytes of events with assets
}

// An asset has the bytes of an event, to which other events refer.
type asset struct {
	event *event
	data  []byte
	used  *bool
}

func newMapper(s sessions.Session, b *sessions.Builder) *mapper {
	return &mapper{
		Builder: b, session: s, calls: map[string]bool{}, before: map[string]int{}, point: -1,
		prompts: map[string]bool{}, totals: map[string]usage{}, agents: map[string]*mapper{},
		seed: maphash.MakeSeed(), sums: map[uint64]bool{},
	}
}

func (m *mapper) line(number int, line []byte) {
	e, ok := read(line)
	if !ok {
		m.Broken(number, sessions.ErrNoObject)
		return
	}
	sum := maphash.Bytes(m.seed, line)
	if e.ID != "" && m.Seen(string(e.ID)) {
		if m.sums[sum] {
			m.Drop("repeated", len(line))
		} else { // another event of that name, as in damaged files
			m.keep(e)
		}
		m.sums[sum] = true
		return
	}
	m.sums[sum] = true
	if e.Data.Kind() != '{' && e.Data != nil {
		m.keep(e)
		return
	}
	to := m
	if id := e.agent(); id != "" && !strings.HasPrefix(string(e.Type), "subagent.") {
		to = m.subagent(id)
	}
	to.number = number
	to.Telling(e.Time.Time, e.kind(), line, func() { to.event(e) })
}

func (m *mapper) keep(e *event) { m.Record(e.Time.Time, e.kind(), e.line) }
func (m *mapper) drop(e *event) { m.Drop(e.kind(), len(e.line)) }

// subagent returns the mapper of a sub-agent.
func (m *mapper) subagent(id string) *mapper {
	if a := m.agents[id]; a != nil {
		return a
	}
	s := m.session
	s.Name, s.Parent = m.name(id), m.session.Name
	a := newMapper(s, m.Child(s))
	a.assets = m.assets
	m.agents[id] = a
	return a
}

func (m *mapper) name(agent string) sessions.Name {
	return sessions.Name{Agent: sessions.Copilot, ID: m.session.Name.ID + "." + agent}
}

// key returns the stable key of a piece of an event.
func (m *mapper) key(e *event, piece int) string {
	id, ok := sessions.RandomHalf(string(e.ID))
	switch {
	case ok:
	case id == "":
		id = m.session.Name.ID + "." + strconv.Itoa(m.number)
	default:
		id = m.session.Name.ID + "." + id // some number their events
	}
	if piece > 0 {
		id += "." + strconv.Itoa(piece)
	}
	if m.point >= 0 {
		at := m.point
		m.point = -1
		m.Rewind(at, id)
	}
	return id
}

func (m *mapper) event(e *event) {
	d := &e.d
	m.before[string(e.ID)] = m.Turn()
	switch e.Type {
	case "session.start", "session.resume":
		m.start(e)
	case "session.model_change":
		m.Effort(string(d.Effort))
		m.modelled(e, string(d.NewModel))
		m.keep(e)
	case "session.title_changed":
		m.Title(sessions.TitleModel, string(d.Title))
		m.keep(e)
	case "session.binary_asset":
		m.asset(e)
	case "session.usage_record":
		m.usageRecord(d)
		m.keep(e)
	case "session.compaction_complete":
		m.compacted(e)
	case "session.snapshot_rewind":
		m.rewound(d)
		m.keep(e)
	case "session.shutdown":
		m.shutdown(d)
		m.keep(e)
	case "abort":
		m.Complete()
		m.keep(e)
	case "user.message":
		m.user(e)
	case "assistant.message":
		m.assistant(e)
	case "assistant.turn_start":
		m.drop(e)
	case "assistant.turn_end":
		if !m.busy {
			m.Complete()
		}
		m.drop(e)
	case "tool.execution_start":
		m.started(e)
	case "tool.execution_complete":
		m.result(e)
	case "subagent.started":
		if id := e.agent(); id != "" {
			m.Subagent(string(d.CallID), m.name(id))
		}
		m.keep(e)
	default:
		m.keep(e)
	}
}

func (m *mapper) start(e *event) {
	m.Label(sessions.LabelBranch, string(e.d.Context.Value.Branch))
	m.Label(sessions.LabelCommit, string(e.d.Context.Value.Commit))
	m.modelled(e, string(e.d.Selected))
	m.keep(e)
}

func (m *mapper) modelled(e *event, model string) {
	if model != "" {
		m.model = model
		m.Model(e.Time.Time, provider(model), model)
	}
}

// asset keeps bytes that a prompt refers to.
func (m *mapper) asset(e *event) {
	id := string(e.d.AssetID)
	content, err := base64.StdEncoding.DecodeString(string(e.d.Bytes))
	if err != nil || id == "" {
		m.keep(e)
		return
	}
	m.Held()
	if old, twice := m.assets[id]; twice {
		m.settle(old)
	}
	e.line, e.Data, e.d = slices.Clone(e.line), nil, data{} // the line is all that settle needs
	m.assets[id] = asset{e, content, new(bool)}
	if m.held += len(e.line); m.held > maxHeld {
		m.Fail(errAssets)
	}
}

// maxHeld limits the bytes of events with assets in memory: only at the end is it known which of
// them are used.
const maxHeld = 256 << 20

var errAssets = errors.New("its assets have more than 256 MiB, and are needed all at once")

// user adds a prompt of a person or, in a sub-agent, of its parent.
func (m *mapper) user(e *event) {
	d := &e.d
	key := m.key(e, 0)
	text := string(d.Content)
	var attached []sessions.Attachment
	m.Odd(e.Time.Time, "user.message/attachments", d.Attached.Odd)
	for _, raw := range d.Attached.Value {
		if a, ok := m.attachment(raw); ok {
			attached = append(attached, a)
		} else {
			m.Record(e.Time.Time, "user.message/attachment", raw)
		}
	}
	m.Headline(text)
	m.prompts[string(e.ID)] = true
	if steers(string(d.Delivery)) && m.Turn() >= 0 && m.busy {
		m.Further(key, e.Time.Time, text, attached...)
	} else {
		m.Prompt(key, e.Time.Time, text, attached...)
		m.before[string(e.ID)] = m.Turn()
	}
	if full := string(d.Full); full != "" && full != text {
		m.Record(e.Time.Time, "user.message/transformed", sessions.Marshal(full))
	}
	m.busy = true
}

// steers reports whether a prompt is sent to the model while it answers another.
func steers(delivery string) bool { return delivery == "steering" || delivery == "immediate" }

// attachment returns an attachment of a prompt, if the session has its bytes.
func (m *mapper) attachment(raw jsontext.Value) (sessions.Attachment, bool) {
	var a struct {
		Path  sessions.Text `json:"path"`
		Name  sessions.Text `json:"displayName"`
		Asset sessions.Text `json:"assetId"`
		MIME  sessions.Text `json:"mimeType"`
		Data  sessions.Text `json:"data"`
	}
	if sessions.Unmarshal(raw, &a) != nil || a.MIME == "" {
		return sessions.Attachment{}, false
	}
	out := sessions.Attachment{
		Name: string(a.Path), Dir: m.session.Dir, MIMEType: string(a.MIME),
	}
	if kept, ok := m.assets[string(a.Asset)]; ok {
		*kept.used = true
		out.Content = kept.data
		return out, true
	}
	data, err := base64.StdEncoding.DecodeString(string(a.Data))
	out.Content = data
	return out, err == nil && len(data) > 0
}

func (m *mapper) assistant(e *event) {
	d := &e.d
	at, reply := e.Time.Time, string(d.APICall)
	for _, other := range []sessions.Text{d.MessageID, e.ID} {
		if reply == "" {
			reply = string(other)
		}
	}
	m.modelled(e, string(d.Model))
	piece := m.thoughts(e, reply)
	if text := string(d.Content); text != "" {
		m.Message(m.key(e, piece), at, reply, text, events.Metadata{})
		piece++
	}
	m.busy = len(d.Requests.Value) > 0
	m.Odd(at, "assistant.message/requests", d.Requests.Odd)
	for _, raw := range d.Requests.Value {
		var r struct {
			ID        sessions.Text  `json:"toolCallId"`
			Name      sessions.Text  `json:"name"`
			Arguments jsontext.Value `json:"arguments"`
		}
		if sessions.Unmarshal(raw, &r) != nil || r.Name == "" {
			m.Record(at, "assistant.message/request", raw)
			continue
		}
		m.call(m.key(e, piece), e, reply, sessions.Call{
			ID: string(r.ID), Name: string(r.Name), Arguments: r.Arguments,
		})
		piece++
	}
	m.reply, m.own = reply, usage{Output: d.Output}
	if !m.records && d.Output > 0 {
		m.Usage(reply, m.own.compact(m.model))
		m.counted.Output += d.Output
	}
}

// thoughts adds the model's reasoning, and returns the number of its pieces.
func (m *mapper) thoughts(e *event, reply string) (piece int) {
	at, d := e.Time.Time, &e.d
	m.Odd(at, "assistant.message/reasoning", d.Thoughts.Odd)
	told := false
	for _, raw := range d.Thoughts.Value.Blocks {
		var b thought
		_ = sessions.Unmarshal(raw, &b) // empty if it is no object
		var md events.Metadata
		switch {
		case b.Data != "":
			md = md.WithText(llm.MetadataAnthropicRedacted, string(b.Data))
		case b.Signature != "":
			md = md.WithText(llm.MetadataAnthropicSignature, string(b.Signature))
		case b.Thinking == "":
			m.Record(at, "assistant.message/reasoning", raw)
			continue
		}
		m.Reasoning(m.key(e, piece), at, reply, string(b.Thinking), md)
		told = told || b.Thinking != ""
		piece++
	}
	switch {
	case told || d.Thought == "":
	case piece > 0: // the provider takes sealed blocks back only as they are
		m.Record(at, "assistant.message/reasoning", sessions.Marshal(string(d.Thought)))
	default:
		m.Reasoning(m.key(e, piece), at, reply, string(d.Thought), events.Metadata{})
		piece++
	}
	if len(d.Thoughts.Value.Blocks) == 0 && d.Opaque != "" {
		m.Record(at, "assistant.message/reasoning", sessions.Marshal(string(d.Opaque)))
	}
	return piece
}

// call adds a call, whose arguments are JSON, or JSON in a string.
func (m *mapper) call(key string, e *event, reply string, c sessions.Call) {
	c.Arguments = sessions.Unquoted(c.Arguments)
	m.calls[c.ID] = true
	m.Call(key, e.Time.Time, reply, c)
}

// started handles the start of a tool, which adds the call if no answer did.
func (m *mapper) started(e *event) {
	d := &e.d
	if m.calls[string(d.CallID)] || d.Tool == "" {
		m.drop(e)
		return
	}
	m.modelled(e, string(d.Model))
	m.call(m.key(e, 0), e, m.reply, sessions.Call{
		ID: string(d.CallID), Name: string(d.Tool), Arguments: d.Arguments,
	})
}

// rewound records that the person went back to an event: a prompt is removed together with its
// answer.
func (m *mapper) rewound(d *data) {
	at, known := m.before[string(d.UpTo)]
	if !known {
		return
	}
	if !m.prompts[string(d.UpTo)] {
		at++
	}
	m.busy = false
	m.point = max(0, at)
}

func (m *mapper) compacted(e *event) {
	if e.d.Success.Kind() == 'f' || e.d.Summary == "" {
		m.keep(e)
		return
	}
	m.key(e, 0) // goes back as the person did
	m.Compact(e.Time.Time, string(e.d.Summary), nil)
	m.drop(e)
}

func (m *mapper) usageRecord(d *data) {
	u := d.Usage.Value
	if u == nil {
		return
	}
	m.records = true
	reply := cmp.Or(string(u.APICall), m.reply)
	m.Usage(reply, u.compact(string(u.Model)))
}

// shutdown reads the total tokens of the session so far, if no usage records have those of each
// answer: tokens not yet reported are added to the last answer.
func (m *mapper) shutdown(d *data) {
	m.Complete()
	for _, model := range slices.Sorted(maps.Keys(d.Metrics.Value)) {
		all := d.Metrics.Value[model].Usage.Value
		more := all.minus(m.totals[model])
		m.totals[model] = all
		if m.records || m.reply == "" {
			continue
		}
		more.Output = max(0, more.Output-m.counted.Output) + m.own.Output
		m.Usage(m.reply, more.compact(model))
	}
	m.counted, m.own = usage{}, usage{}
}

// finish keeps the assets that no prompt used.
func (m *mapper) finish() {
	for _, id := range slices.Sorted(maps.Keys(m.assets)) {
		m.settle(m.assets[id])
	}
}

// settle keeps an asset that no prompt used.
func (m *mapper) settle(a asset) {
	if !*a.used {
		m.keep(a.event)
	} else {
		m.drop(a.event)
		m.Beside(a.event.kind(), a.event.line)
	}
}
