package opencode

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/go-json-experiment/json/jsontext"
)

// Read implements [sessions.Dialect].
func (Dialect) Read(
	ctx context.Context, s sessions.Session, _ int64, b *sessions.Builder,
) (sessions.Version, error) {
	t, err := load(ctx, s)
	if err != nil {
		return sessions.Version{}, fmt.Errorf("read session %s: %w", s.Name.ID, err)
	}
	b.LeaveOut("id", "sessionID", "messageID", "type", "filediff")
	m := &mapper{Builder: b, dir: s.Dir}
	m.Title(sessions.TitleModel, string(t.info.Title))
	m.tell(t)
	return t.version(), b.Err()
}

// A mapper passes the messages of a session to a builder.
type mapper struct {
	*sessions.Builder
	dir  string          // the agent's current directory
	kept map[string]bool // keys of what the summary to follow does not replace
}

// tell adds the session and, at its end, that the person undid the last part of it.
func (m *mapper) tell(t *transcript) {
	cut, ok := t.cut()
	turn := -1 // the one before that of the cut
	begin := 0 // the first message of that turn
	for i, msg := range t.messages {
		before := m.Point()
		m.keep(t.messages[:i+1])
		m.message(msg)
		if i <= cut && msg.isPrompt() {
			turn, begin = before, i
		}
	}
	if !ok || m.Turn() < 0 {
		return
	}
	m.Follow(turn, short(string(t.info.Revert.Message)))
	for i := begin; i < cut; i++ {
		m.message(t.messages[i])
	}
	if parts := t.messages[cut].before(string(t.info.Revert.Part)); len(parts) > 0 {
		m.message(&message{row: t.messages[cut].row, parts: parts})
	}
}

// keep notes what a compaction, for which the last message asks, does not replace.
func (m *mapper) keep(all []*message) {
	for _, r := range all[len(all)-1].parts {
		p := r.part()
		from := slices.IndexFunc(all, func(o *message) bool { return o.id == string(p.Tail) })
		if p.Type != "compaction" || from < 0 {
			continue
		}
		m.kept = map[string]bool{}
		for _, msg := range all[from:] {
			m.kept[short(msg.id)] = true
			for _, r := range msg.parts {
				m.kept[short(r.id)] = true
			}
		}
	}
}

func (m *mapper) isKept(key string) bool { return m.kept[key] }

// cut returns the message from which on, or in which, everything is undone.
func (t *transcript) cut() (int, bool) {
	i := slices.IndexFunc(t.messages, func(m *message) bool {
		return m.id == string(t.info.Revert.Message)
	})
	return i, i >= 0
}

// before returns the parts before an undone one, none if the complete message is undone.
func (msg *message) before(part string) []row {
	i := slices.IndexFunc(msg.parts, func(p row) bool { return p.id == part })
	return msg.parts[:max(i, 0)]
}

// head has the data of a message.
type head struct {
	Role     sessions.Text  `json:"role"`
	Provider sessions.Text  `json:"providerID"`
	Model    sessions.Text  `json:"modelID"`
	Finish   sessions.Text  `json:"finish"`
	Error    jsontext.Value `json:"error"`
	Summary  jsontext.Value `json:"summary"`
	Tokens   tokens         `json:"tokens"`
	Path     struct {
		CWD sessions.Text `json:"cwd"`
	} `json:"path"`
	Time struct {
		Created   sessions.Moment `json:"created"`
		Completed sessions.Moment `json:"completed"`
	} `json:"time"`
}

type tokens struct {
	Input     sessions.Number `json:"input"`
	Output    sessions.Number `json:"output"`
	Reasoning sessions.Number `json:"reasoning"`
	Cache     struct {
		Read  sessions.Number `json:"read"`
		Write sessions.Number `json:"write"`
	} `json:"cache"`
}

func (t tokens) usage(model string) compact.Usage {
	return compact.Usage{
		Input: int64(t.Input), Output: int64(t.Output + t.Reasoning),
		CacheRead: int64(t.Cache.Read), CacheWrite: int64(t.Cache.Write), Model: model,
	}
}

func (msg *message) head() head {
	var h head
	if sessions.Unmarshal(msg.data, &h) != nil {
		return head{}
	}
	return h
}

func (msg *message) at(h head) time.Time {
	if h.Time.Created.IsZero() {
		return sessions.Since1970(float64(msg.created))
	}
	return h.Time.Created.Time
}

// isPrompt reports whether a message begins a turn.
func (msg *message) isPrompt() bool {
	return msg.head().Role == "user" && slices.ContainsFunc(msg.parts, func(r row) bool {
		return r.part().isPrompt()
	})
}

// message adds a message.
func (m *mapper) message(msg *message) {
	h := msg.head()
	if h.Path.CWD != "" {
		m.dir = string(h.Path.CWD)
	}
	switch h.Role {
	case "user":
		m.user(msg, h)
		for _, r := range msg.parts {
			m.Beside("part", r.data)
		}
	case "assistant":
		m.assistant(msg, h)
	default:
		m.Record(msg.at(h), "message", wrap(msg.row))
		for _, p := range msg.parts {
			m.Record(msg.at(h), "part", wrap(p))
		}
		return
	}
	m.rest(msg, h)
}

// rest keeps the other members of a message. Its summary has titles and diffs, which the session
// and the results of tools have too.
func (m *mapper) rest(msg *message, h head) {
	var all map[string]jsontext.Value
	if sessions.Unmarshal(msg.data, &all) != nil {
		m.Record(msg.at(h), "message", wrap(msg.row))
		return
	}
	if v, ok := all["summary"]; ok && v.Kind() == '{' {
		m.Drop("summary", len(v))
		delete(all, "summary")
	}
	record := wrap(row{id: msg.id, data: sessions.Marshal(all)})
	m.Record(msg.at(h), "message/"+string(h.Role), record)
}

// wrap returns a record with the id of its row.
func wrap(r row) []byte {
	if !r.data.IsValid() {
		r.data = sessions.Marshal(string(r.data))
	}
	return sessions.Marshal(map[string]any{"id": r.id, "data": r.data})
}

// short returns the key of a message or a part: its id without the prefix for its kind.
func short(id string) string {
	_, rest, ok := strings.Cut(id, "_")
	if !ok {
		return id
	}
	return rest
}

// user adds a prompt of a person, and text that the agent added in the person's name.
func (m *mapper) user(msg *message, h head) {
	at := msg.at(h)
	var said []string
	var attached []sessions.Attachment
	key := short(msg.id)
	for _, r := range msg.parts {
		switch p := r.part(); {
		case p.isPrompt():
			said = append(said, p.prompt())
		case p.Type == "file":
			if a, ok := p.attachment(); ok {
				attached = append(attached, a)
			}
		}
	}
	if said != nil {
		m.Prompt(key, at, strings.Join(said, "\n"), attached...)
	} else if attached != nil {
		m.Prompt(key, at, "", attached...)
	}
	for _, r := range msg.parts {
		p := r.part()
		_, file := p.attachment()
		switch {
		case p.Type == "text" && p.isPrompt() || p.Type == "file" && file:
		case p.Type == "text" && p.Text != "":
			m.Injected(short(r.id), at, string(p.Text))
		default:
			m.Record(at, kind(p.Type), wrap(r))
		}
	}
}

func kind(t sessions.Text) string {
	if t == "" {
		return "part"
	}
	return "part/" + string(t)
}

// assistant adds the messages of the model. A message has the parts of one or more answers, each
// between the start and the finish of a step; the results of an answer follow all of its calls.
func (m *mapper) assistant(msg *message, h head) {
	at := msg.at(h)
	if h.Model != "" {
		m.Model(at, sessions.Provider(string(h.Provider), string(h.Model)), string(h.Model))
	}
	if h.Summary.Kind() == 't' {
		m.summary(msg, at)
		return
	}
	a := answer{mapper: m, id: short(msg.id), at: at, model: string(h.Model)}
	for _, r := range msg.parts {
		a.part(r)
	}
	a.end()
	if !a.told && h.Tokens != (tokens{}) {
		m.Usage(a.reply(), h.Tokens.usage(a.model))
	}
	if h.Error != nil {
		m.Record(at, "assistant/error", wrap(row{id: msg.id, data: h.Error}))
	}
	if h.Finish == "stop" || h.Finish == "end_turn" {
		m.Complete()
	}
}

// summary records that the agent replaced everything before with a summary.
func (m *mapper) summary(msg *message, at time.Time) {
	var texts []string
	for _, r := range msg.parts {
		if p := r.part(); p.Type == "text" && p.Text != "" {
			texts = append(texts, string(p.Text))
		} else {
			m.Record(at, kind(p.Type), wrap(r))
		}
	}
	if texts != nil {
		m.Compact(at, strings.Join(texts, "\n"), m.isKept)
		m.kept = nil
	}
}
