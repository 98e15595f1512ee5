package gemini

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/go-json-experiment/json/jsontext"
)

// Read implements [sessions.Dialect].
func (Dialect) Read(
	ctx context.Context, s sessions.Session, until int64, b *sessions.Builder,
) (v sessions.Version, err error) {
	f := &fold{}
	if isLines(s.Path) {
		v, err = readLines(ctx, s, until, b, f)
	} else {
		v, err = readObject(s, b, f)
	}
	if err != nil {
		return v, err
	}
	b.LeaveOut("id", "timestamp", "type", "agentId", "originalContent", "newContent")
	m := &mapper{Builder: b, session: s, told: map[string]bool{}}
	m.Title(sessions.TitleModel, string(f.about.Summary))
	items := f.items
	if end := len(items) - 1; end >= 0 && items[end].isAwaited() {
		items = items[:end] // else a record of it would stay when its calls arrive
	}
	m.all(items)
	return v, nil
}

func readLines(
	ctx context.Context, s sessions.Session, until int64, b *sessions.Builder, f *fold,
) (sessions.Version, error) {
	return sessions.ReadLines(ctx, s.Path, until, b, func(number int, line []byte) {
		var r record
		if sessions.UnmarshalInner(line, &r) != nil {
			b.Broken(number, sessions.ErrNoObject)
			return
		}
		repeats, err := f.take(&r, line)
		if err != nil {
			b.Fail(err)
		}
		if repeats && r.ID == "" {
			b.Drop("fold", len(line))
		}
	})
}

// readObject folds a session that is one object. Its length is the size of its messages without
// spaces, so that a file of lines that continues it is longer.
func readObject(s sessions.Session, b *sessions.Builder, f *fold) (sessions.Version, error) {
	data, err := regular.ReadFile(s.Path, sessions.MaxLine)
	if err != nil {
		return sessions.Version{}, err
	}
	var all map[string]jsontext.Value
	if err := sessions.Unmarshal(data, &all); err != nil {
		return sessions.Version{}, fmt.Errorf("read %s: %w", s.Path, err)
	}
	var about record
	if sessions.Unmarshal(data, &about) == nil {
		f.describe(&about.metadata)
	}
	messages := all["messages"].Clone() // it is compacted in place
	delete(all, "messages")
	delete(all, "lastUpdated")
	if err := f.keep(about.Start.Time, "metadata", sessions.Marshal(all)); err != nil {
		return sessions.Version{}, err
	}
	if messages.Kind() == '[' {
		if err := messages.Compact(jsontext.AllowInvalidUTF8(true),
			jsontext.AllowDuplicateNames(true)); err != nil {
			return sessions.Version{}, fmt.Errorf("read %s: %w", s.Path, err)
		}
		if err := f.replace(messages); err != nil {
			b.Fail(err)
		}
	}
	return sessions.VersionOf(int64(len(messages)), sha256.Sum256(data)), nil
}

// A mapper passes a fold to a builder.
type mapper struct {
	*sessions.Builder
	session sessions.Session
	told    map[string]bool // calls that have their results
	begun   []item          // items of the current turn that were added
}

func (m *mapper) all(items []item) {
	for n := range items {
		switch i := &items[n]; {
		case i.isFork:
			m.fork(i, items[n+1:])
		case i.kind != "":
			m.Record(i.at, i.kind, i.raw)
		default:
			kind := cmp.Or(string(i.said.Type), "unknown")
			m.Telling(i.said.Time.Time, kind, i.raw, func() { m.message(i) })
		}
	}
}

// fork adds the messages that the person rewound, and goes back if other messages followed. If that
// was in the middle of a turn, the earlier messages of the turn are added again.
func (m *mapper) fork(i *item, next []item) {
	turns, begun := m.Turn()+1, slices.Clone(m.begun)
	first := firstMessage(i.rewound)
	switch asked := slices.ContainsFunc(begun, func(i item) bool { return i.isPrompt() }); {
	case asked && first.isPrompt():
		begun = nil // it began a turn of its own
	case len(begun) > 0:
		turns = max(0, turns-1)
	}
	m.all(i.rewound)
	instead := firstMessage(next)
	if instead == nil {
		return
	}
	m.Rewind(turns, m.key(instead, 0))
	m.begun = nil
	for n := range begun {
		m.message(&begun[n])
	}
}

func isMessage(i item) bool { return i.id != "" }

// firstMessage returns the earliest message of some items, including rewound ones.
func firstMessage(all []item) *item {
	for n := range all {
		if all[n].isFork {
			return firstMessage(all[n].rewound)
		} else if isMessage(all[n]) {
			return &all[n]
		}
	}
	return nil
}

func (i *item) isPrompt() bool { return i.said.Type == "user" && i.said.typed() != "" }

// key returns the stable key of a piece of a message.
func (m *mapper) key(i *item, piece int) string {
	id, ok := sessions.RandomHalf(i.id)
	if !ok {
		id = m.session.Name.ID + "." + id // the first message has the same id in all sessions
	}
	if piece > 0 {
		id += "." + strconv.Itoa(piece)
	}
	return id
}

func (m *mapper) message(i *item) {
	switch i.said.Type {
	case "user":
		m.user(i)
	case "gemini":
		m.begun = append(m.begun, *i)
		m.model(i)
	default:
		m.Record(i.said.Time.Time, cmp.Or(string(i.said.Type), "unknown"), i.raw)
	}
}

// user adds a prompt of a person. Results of calls are also messages in the person's name: those
// that are stored with their calls are not added again.
func (m *mapper) user(i *item) {
	all := parts(i.said.Content)
	said := text(all)
	var attached []sessions.Attachment
	piece := 0
	for _, p := range all {
		if data, ok := p.bytes(); ok {
			attached = append(attached, sessions.Attachment{
				MIMEType: string(p.Inline.Value.MIME), Content: data,
			})
		}
		if r := p.Response.Value; r != nil {
			m.answered(i, &piece, r, p.raw)
		} else if _, ok := p.bytes(); !ok && (p.Text == "" || p.Inline.Value.MIME != "") {
			m.Record(i.said.Time.Time, "user/part", p.raw)
		}
	}
	switch {
	case said == "" && len(attached) == 0:
		m.begun = append(m.begun, *i)
		return
	case isInjected(said):
		m.begun = append(m.begun, *i)
		m.Injected(m.key(i, piece), i.said.Time.Time, said, attached...)
		return
	}
	m.begun = append(m.begun[:0:0], *i)
	m.Headline(i.said.typed())
	m.Prompt(m.key(i, piece), i.said.Time.Time, said, attached...)
}

// answered adds a result from a message of its own.
func (m *mapper) answered(i *item, piece *int, r *response, raw jsontext.Value) {
	if m.told[string(r.ID)] {
		m.Drop("functionResponse", len(raw))
		return
	}
	blocks, failed := r.blocks()
	m.told[string(r.ID)] = true
	m.Result(m.key(i, *piece), i.said.Time.Time, string(r.ID), failed, blocks...)
	*piece++
}

func (m *mapper) model(i *item) {
	said, reply := &i.said, i.id
	at, piece := said.Time.Time, 0
	if said.Model != "" {
		m.Model(at, "google", string(said.Model))
	}
	m.Odd(at, "gemini/thoughts", said.Thoughts.Odd)
	m.Odd(at, "gemini/toolCalls", said.Calls.Odd)
	for _, t := range said.Thoughts.Value {
		m.Said(string(t.Subject))
		m.Said(string(t.Text))
		words := string(t.Subject)
		if words != "" && t.Text != "" {
			words += ": "
		}
		m.Reasoning(m.key(i, piece), t.Time.Time, reply, words+string(t.Text), events.Metadata{})
		piece++
	}
	piece = m.words(i, piece)
	calls := m.calls(i, piece)
	for n := range calls {
		m.result(i, &calls[n])
	}
	if t := said.Tokens.Value; t != nil {
		m.Usage(reply, t.usage(string(said.Model)))
	}
	if len(calls) == 0 {
		m.Complete()
	}
}

// words adds text of the model.
func (m *mapper) words(i *item, piece int) int {
	for _, p := range parts(i.said.Content) {
		switch {
		case p.Text != "" && bool(p.Thought):
			m.Reasoning(m.key(i, piece), i.said.Time.Time, i.id, string(p.Text), events.Metadata{})
		case p.Text != "":
			m.Message(m.key(i, piece), i.said.Time.Time, i.id, string(p.Text), events.Metadata{})
			if p.Inline.Value.MIME != "" {
				m.Record(i.said.Time.Time, "gemini/part", p.raw)
			}
		case p.Call != nil:
			continue // added with its result
		case p.raw.Kind() == '"':
			continue // empty
		default:
			m.Record(i.said.Time.Time, "gemini/part", p.raw)
			continue
		}
		piece++
	}
	return piece
}

// calls adds the calls of an answer, before their results.
func (m *mapper) calls(i *item, piece int) (all []call) {
	for n, raw := range i.said.called() {
		var c call
		if sessions.Unmarshal(raw, &c) != nil || c.Name == "" {
			m.Record(i.said.Time.Time, "gemini/toolCall", raw)
			continue
		}
		if c.ID == "" {
			c.ID = sessions.Text(m.key(i, 0) + "#" + strconv.Itoa(n))
		}
		c.key = m.key(i, piece)
		m.Call(c.key, i.said.Time.Time, i.id, sessions.Call{
			ID: string(c.ID), Name: string(c.Name), Arguments: c.Args,
		})
		piece++
		if c.AgentID != "" {
			m.Subagent(string(c.ID), sessions.Name{
				Agent: sessions.Gemini, ID: string(c.AgentID),
			})
		}
		all = append(all, c)
	}
	return all
}

// called returns the calls of a message: with their results, or else as the model wrote them.
func (m *message) called() []jsontext.Value {
	if len(m.Calls.Value) > 0 {
		return m.Calls.Value
	}
	var all []jsontext.Value
	for _, p := range parts(m.Content) {
		if p.Call != nil {
			all = append(all, p.Call)
		}
	}
	return all
}

// exitCode matches the exit code in the result of a shell.
var exitCode = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^Exit Code: (-?[1-9]\d*)$`)
})

// result adds the result of a call, and keeps what a screen shows of it as a record. Its key is
// that of its call: the number of calls before it grows.
func (m *mapper) result(i *item, c *call) {
	failed := c.Status == "error" || c.Status == "cancelled"
	var blocks []sessions.Block
	for _, p := range parts(c.Result) {
		if r := p.Response.Value; r != nil {
			more, broken := r.blocks()
			blocks, failed = append(blocks, more...), failed || broken
		} else {
			blocks = append(blocks, p.block())
		}
	}
	if blocks == nil && failed {
		blocks = []sessions.Block{{Text: string(c.Status)}}
	}
	if blocks != nil {
		at := c.Time
		if at.IsZero() {
			at = i.said.Time
		}
		m.told[string(c.ID)] = true
		m.Result(c.key+".r", at.Time, string(c.ID), failed, blocks...)
	}
	m.shown(i, c, blocks)
}

// shown keeps what a screen shows of a result, if that is more than the result: a diff.
func (m *mapper) shown(i *item, c *call, blocks []sessions.Block) {
	var words sessions.Text
	switch c.Display.Kind() {
	case 0, 'n':
		return
	case '"':
		_ = sessions.Unmarshal(c.Display, &words) // a string, by its kind
		if slices.ContainsFunc(blocks, func(b sessions.Block) bool {
			return strings.Contains(b.Text, strings.TrimSpace(string(words)))
		}) {
			m.Drop("resultDisplay", len(c.Display))
			return
		}
	}
	display := c.Display
	var all map[string]jsontext.Value
	if display.Kind() == '{' && sessions.Unmarshal(display, &all) == nil {
		for _, name := range []string{"originalContent", "newContent"} {
			m.Drop("resultDisplay/"+name, len(all[name]))
			delete(all, name) // the diff has the change
		}
		display = sessions.Marshal(all)
	}
	m.Record(i.said.Time.Time, "resultDisplay", sessions.Marshal(struct {
		ID      string         `json:"id"`
		Display jsontext.Value `json:"resultDisplay"`
	}{string(c.ID), display}))
}

// blocks returns what the model was given.
func (r *response) blocks() (out []sessions.Block, failed bool) {
	var said struct {
		Output sessions.Text  `json:"output"`
		Error  jsontext.Value `json:"error"`
	}
	var members map[string]jsontext.Value
	_ = sessions.Unmarshal(r.Response, &members) // empty if it is no object
	_ = sessions.Unmarshal(r.Response, &said)
	switch {
	case said.Error != nil && said.Error.Kind() != 'n' && len(members) == 1:
		failed = true
		out = append(out, sessions.Block{Text: words(said.Error)})
	case len(members) == 1 && members["output"].Kind() == '"':
		failed = exitCode().MatchString(string(said.Output))
		out = append(out, sessions.Block{Text: string(said.Output)})
	case r.Response != nil:
		failed = said.Error != nil && said.Error.Kind() != 'n'
		out = append(out, sessions.Block{Text: string(r.Response)})
	}
	for _, p := range parts(r.Parts) {
		out = append(out, p.block())
	}
	if out == nil {
		out = []sessions.Block{{}} // an empty result still answers its call
	}
	return out, failed
}

func words(v jsontext.Value) string {
	var s sessions.Text
	if v.Kind() == '"' && sessions.Unmarshal(v, &s) == nil {
		return string(s)
	}
	return string(v)
}

func (p *part) block() sessions.Block {
	if data, ok := p.bytes(); ok {
		return sessions.Block{MIMEType: string(p.Inline.Value.MIME), Data: data}
	}
	if p.Text != "" || p.raw.Kind() == '"' {
		return sessions.Block{Text: string(p.Text)}
	}
	return sessions.Block{Text: string(p.raw)}
}
