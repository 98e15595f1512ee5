package codex

import (
	"context"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Read implements [sessions.Dialect].
func (Dialect) Read(
	ctx context.Context, s sessions.Session, until int64, b *sessions.Builder,
) (sessions.Version, error) {
	m := newMapper(s, b)
	m.LeaveOut(left...)
	parts := append(bases(s.Path, b.In), span{s.Path, s.Name.ID, until})
	var v sessions.Version
	for _, part := range parts {
		m.thread, m.metas = tail(part.thread), 0
		var err error
		if v, err = sessions.ReadLines(ctx, part.path, part.end, b, m.line); err != nil {
			return v, err
		}
	}
	m.flush()
	m.settle(b)
	return v, nil
}

// A mapper passes the records of one thread to a builder.
type mapper struct {
	*sessions.Builder
	naming
	twins
	exits
	billing

	session  sessions.Session
	provider string
	model    string
	number   int             // of the line
	metas    int             // number of session_meta lines in the file
	asked    string          // the turn in which a person asked, while it is open
	prompts  []int           // number of turns before each prompt
	rewound  int             // number of prompts that the person went back, until something follows
	spawned  map[string]bool // calls that start a sub-agent
	context  jsontext.Value
}

func newMapper(s sessions.Session, b *sessions.Builder) *mapper {
	return &mapper{
		Builder: b, session: s, provider: "openai", naming: naming{told: map[string]int{}},
		twins: twins{}.next(), exits: exits{}, spawned: map[string]bool{},
	}
}

// tail returns the random part of an id. The rest is a time.
func tail(id string) string {
	id = strings.ReplaceAll(id, "-", "")
	const digits = 12
	return id[max(0, len(id)-digits):]
}

func (m *mapper) line(number int, line []byte) {
	m.number = number
	r, ok := read(line)
	if !ok {
		m.Broken(number, sessions.ErrNoObject)
		return
	}
	m.Telling(r.Time.Time, r.kind(), line, func() { m.record(r) })
}

func (m *mapper) record(r *record) {
	switch r.Type {
	case kindMeta:
		m.meta(r)
	case kindContext:
		m.turnContext(r)
	case kindItem:
		m.item(r)
	case kindEvent:
		m.event(r)
	case kindCompacted:
		m.compacted(r)
	case "token_usage_record":
		m.usageRecord(r)
	default:
		m.keep(r)
	}
}

func (m *mapper) keep(r *record) { m.Record(r.Time.Time, r.kind(), r.line) }
func (m *mapper) drop(r *record) { m.Drop(r.kind(), len(r.line)) }

// meta reads the metadata of the file. The second one is that of a parent, whose records follow.
func (m *mapper) meta(r *record) {
	m.metas++
	if m.metas == 1 {
		m.provider = provider(string(r.p.Provider))
	}
	if m.metas == 1 && name(string(r.p.ID)) == m.session.Name {
		m.Label(sessions.LabelCommit, string(r.p.Git.Value.Commit))
		m.Label(sessions.LabelBranch, string(r.p.Git.Value.Branch))
		m.Title(sessions.TitlePerson, indexed(m.session.Path, m.session.Name.ID))
	}
	m.keep(r)
}

// provider returns jp's name of a provider. Providers that users define speak OpenAI's protocol.
func provider(name string) string {
	switch name {
	case "anthropic", "deepseek", "google", "llamacpp", "ollama", "openrouter":
		return name
	}
	return "openai"
}

// turnContext reads the settings of a turn. They are kept if they changed.
func (m *mapper) turnContext(r *record) {
	m.begin(string(r.p.TurnID))
	if r.p.Model != "" {
		m.model = string(r.p.Model)
		m.Effort(string(r.p.Effort))
		m.Model(r.Time.Time, m.provider, m.model)
	}
	if now := settings(r.Payload); isSame(now, m.context) {
		m.drop(r)
	} else {
		m.context = now
		m.keep(r)
	}
}

// settings returns the settings that are not specific to one turn.
func settings(v jsontext.Value) jsontext.Value {
	var all map[string]jsontext.Value
	if sessions.Unmarshal(v, &all) != nil {
		return v.Clone()
	}
	delete(all, "turn_id")
	delete(all, "current_date")
	out, err := json.Marshal(all, json.Deterministic(true))
	if err != nil {
		return v.Clone()
	}
	return out
}

// begin sets the turn of the records that follow. Both the events and the settings of a turn name
// it.
func (m *mapper) begin(turn string) {
	if turn == "" || turn == m.turn {
		return
	}
	m.flush()
	m.turn, m.twins = turn, m.next()
}

// A naming names the events of a thread.
type naming struct {
	thread string         // the end of its id, prefix of keys outside of turns
	turn   string         // id of the current turn
	told   map[string]int // number of events of each turn
}

// keyOf returns the key of the next event: the turn, which a copy in a fork has too, and the number
// of its events so far; or the line if turns have no ids.
func (n *naming) keyOf(line int) string {
	base := tail(n.turn)
	if base == "" {
		base = n.thread + "." + strconv.Itoa(line)
	}
	before := n.told[base]
	n.told[base]++
	if n.turn == "" && before == 0 {
		return base
	}
	return base + "." + strconv.Itoa(before)
}

// key returns the key of the next event.
func (m *mapper) key() string { return m.keyAt(m.number) }

// keyAt returns the key of an event from an earlier line, which was held back.
func (m *mapper) keyAt(number int) string {
	key := m.keyOf(number)
	m.rewind(key)
	return key
}

// rewind goes back as the person did, once the point is known.
func (m *mapper) rewind(point string) {
	if m.rewound == 0 {
		return
	}
	at := max(0, len(m.prompts)-m.rewound)
	m.rewound = 0
	if at < len(m.prompts) {
		m.Rewind(m.prompts[at], point)
		m.prompts = m.prompts[:at]
	}
}

// prompt adds a prompt of a person. A prompt during an open turn is added to it.
func (m *mapper) prompt(h held, text string, images []sessions.Attachment) {
	key := m.keyAt(h.number)
	m.Headline(text)
	if m.turn != "" && m.asked == m.turn {
		m.prompts = append(m.prompts, m.Turn()+1) // going back to it keeps the turn
		m.Further(key, h.at, text, images...)
		return
	}
	m.asked = m.turn
	m.Prompt(key, h.at, text, images...)
	m.prompts = append(m.prompts, m.Turn())
}

// over ends the turn.
func (m *mapper) over() {
	m.flush()
	m.settle(m.Builder)
	m.asked = ""
	m.Complete()
}

// compacted adds the summary that replaces earlier messages. The model gets a list of messages, if
// the record has it; parts that only the provider can read are kept beside it.
func (m *mapper) compacted(r *record) {
	m.flush()
	summary, opaque := string(r.p.Message), len(r.p.History.Value) == 0
	var parts []string
	for _, v := range r.p.History.Value {
		var p payload
		if sessions.Unmarshal(v, &p) != nil || !p.isMessage() {
			opaque = true
			continue
		}
		if text := p.text(); text != "" && (p.Role == "assistant" || !isInjected(text)) {
			parts = append(parts, string(p.Role)+": "+text)
			m.Said(text)
		}
	}
	if len(parts) > 0 {
		said := summary
		summary = strings.Join(parts, "\n\n")
		opaque = opaque || !strings.Contains(summary, said)
	}
	if summary != "" {
		m.key() // a summary has a number among the events of its turn
		m.Compact(r.Time.Time, summary, nil)
	}
	if opaque {
		m.keep(r)
	} else {
		m.drop(r)
	}
}
