package llm

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sqlite"
	"github.com/go-json-experiment/json/jsontext"
)

// thread adds the messages of a thread, by turn.
func (m *mapper) thread() {
	told := map[string]bool{} // turns
	var asked []sqlite.Row
	for i := 0; i < len(m.chain); i++ {
		asked = append(asked, m.chain[i])
		turn, ok := m.owners.asked[m.chain[i].Text("hash")]
		if !ok {
			continue
		}
		answer := m.answer(turn, i+1)
		m.turn(turn, asked, answer)
		told[turn.Text("id")], asked = true, nil
		i += len(answer)
	}
	for _, message := range asked { // they have no answer
		m.message(message, time.Time{}, "")
	}
	for _, turn := range m.turns {
		if !told[turn.Text("id")] {
			m.aside(turn)
		}
	}
}

// answer returns the messages of a turn's answer, starting at an index.
func (m *mapper) answer(turn sqlite.Row, from int) []sqlite.Row {
	for i := from; i < len(m.chain); i++ {
		if m.chain[i].Text("hash") == turn.Text("tip_message_hash") {
			return m.chain[from : i+1]
		}
	}
	return nil // it does not lead to the last message
}

// aside keeps a turn that does not lead to the last message of its thread as a record.
func (m *mapper) aside(r sqlite.Row) {
	var said []any
	for _, message := range m.asides[r.Text("id")] {
		for _, p := range m.parts[message.Text("hash")] {
			said = append(said, map[string]any{
				"role": message.Text("role"), "type": p.Text("type"), "text": p.Text("text"),
				"payload": asJSON(p.Text("payload")),
			})
		}
	}
	m.Record(when(r), "turn/aside", sessions.Marshal(map[string]any{
		"id": r.Text("id"), "model": r.Text("model"), "messages": said,
	}))
}

func (m *mapper) turn(r sqlite.Row, asked, answered []sqlite.Row) {
	id, at := r.Text("id"), when(r)
	m.model(r, at)
	for _, message := range asked {
		m.message(message, at, "")
	}
	end := at.Add(time.Duration(r.Int("duration_ms")) * time.Millisecond)
	calls := len(m.called)
	for _, message := range answered {
		m.message(message, end, id)
	}
	m.Usage(id, usage(r))
	m.details("turn", r, at, "options_json", "response_json", "token_details", "schema_id",
		"duration_ms", "resolved_model")
	if len(answered) > 0 && calls == len(m.called) {
		m.Complete()
	}
}

// message adds a message. Its hash is the same in all threads that share it.
func (m *mapper) message(r sqlite.Row, at time.Time, reply string) {
	hash := r.Text("hash")
	parts := m.parts[hash]
	key := keyOf(hash)
	reply = cmp.Or(reply, key)
	switch r.Text("role") {
	case "user":
		m.asked(key, at, parts)
	case "assistant":
		for i, p := range parts {
			m.part(key+"."+strconv.Itoa(i), at, reply, p)
		}
	case "tool":
		for i, p := range parts {
			m.answers(key+"."+strconv.Itoa(i), at, p)
		}
	default:
		for _, p := range parts {
			m.other(at, r.Text("role"), p)
		}
	}
	if r.Has("provider_metadata") {
		m.Record(at, "message", sessions.Marshal(map[string]any{
			"hash": hash, "provider_metadata": asJSON(r.Text("provider_metadata")),
		}))
	}
}

// keyOf returns half of a hash, which is enough to be unique among all logs of a team.
func keyOf(hash string) string {
	_, digits, ok := strings.Cut(hash, ":")
	if !ok {
		digits = hash
	}
	return digits[:min(len(digits), 16)]
}

func asJSON(s string) any {
	if v := jsontext.Value(s); v.IsValid() {
		return v
	}
	return s
}

// asked adds a prompt of a person, and the results of the calls before.
func (m *mapper) asked(key string, at time.Time, parts []sqlite.Row) {
	var said []string
	var attached []sessions.Attachment
	prompt := false
	for i, p := range parts {
		switch p.Text("type") {
		case "tool_result":
			m.answers(key+"."+strconv.Itoa(i), at, p)
			continue
		case "text":
			said = append(said, p.Text("text"))
		case "attachment":
		default:
			m.other(at, "user", p)
			continue
		}
		prompt = true
		attached = append(attached, m.attached(idOf(p, "id"), at)...)
	}
	if prompt {
		m.Prompt(key, at, strings.Join(said, "\n"), attached...)
	}
}

// payload has the members of a part besides its text.
type payload struct {
	CallID    sessions.Text  `json:"tool_call_id"`
	ID        sessions.Text  `json:"id"`
	Name      sessions.Text  `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
	Output    sessions.Text  `json:"output"`
	Exception sessions.Text  `json:"exception"`
}

func payloadOf(p sqlite.Row) payload {
	var v payload
	if sessions.Unmarshal(p.Bytes("payload"), &v) != nil {
		return payload{}
	}
	v.CallID = cmp.Or(v.CallID, v.ID)
	return v
}

func (m *mapper) part(key string, at time.Time, reply string, p sqlite.Row) {
	switch p.Text("type") {
	case "text":
		m.Message(key, at, reply, p.Text("text"), events.Metadata{})
	case "reasoning":
		m.Reasoning(key, at, reply, p.Text("text"), events.Metadata{})
	case "tool_call":
		v := payloadOf(p)
		c := sessions.Call{ID: string(v.CallID), Name: p.Text("tool_name"), Arguments: v.Arguments}
		c.ID = cmp.Or(c.ID, key)
		if c.Name == "" {
			c.Name = string(v.Name)
		}
		m.call(key, at, reply, c)
	case "tool_result": // of a tool that the provider ran
		m.answers(key, at, p)
	default:
		m.other(at, "assistant", p)
	}
}

// answers adds a part that is the result of a call.
func (m *mapper) answers(key string, at time.Time, p sqlite.Row) {
	v := payloadOf(p)
	said := said{cmp.Or(p.Text("text"), string(v.Output)), string(v.Exception)}
	m.result(key, at, string(v.CallID), said, m.attached(idOf(p, "id"), at))
}

func (m *mapper) other(at time.Time, role string, p sqlite.Row) {
	m.Record(at, role+"/"+p.Text("type"), sessions.Marshal(map[string]any{
		"text": p.Text("text"), "tool_name": p.Text("tool_name"),
		"payload": asJSON(p.Text("payload")),
	}))
	for _, a := range m.attached(idOf(p, "id"), at) {
		m.Record(at, role+"/attachment", sessions.Marshal(map[string]any{
			"type": a.MIMEType, "content": a.Content,
		}))
	}
}
