package llm

import (
	"cmp"
	"context"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sqlite"
	"github.com/go-json-experiment/json/jsontext"
)

// left names columns and members that are left out: ids and times, and the form of a request.
var left = []string{
	"id", "hash", "conversation_id", "response_id", "thread_id", "tool_id", "tool_call_id",
	"parent_message_hash", "tip_message_hash", "schema_id", "datetime_utc", "type", "role",
}

// Read implements [sessions.Dialect].
func (Dialect) Read(
	ctx context.Context, s sessions.Session, _ int64, b *sessions.Builder,
) (sessions.Version, error) {
	c, err := load(ctx, s)
	if err != nil {
		return sessions.Version{}, err
	}
	b.LeaveOut(left...)
	m := &mapper{Builder: b, conversation: c, called: map[string]bool{}}
	m.Title(sessions.TitleModel, c.name)
	for _, r := range c.responses {
		m.response(r)
	}
	m.thread()
	return c.version(), b.Err()
}

// A mapper passes the rows of a conversation to a builder.
type mapper struct {
	*sessions.Builder
	*conversation
	called  map[string]bool // calls that were added
	systems string          // the last system prompt that was recorded
}

// response maps a logged response: a question, or the results of the calls of the response before,
// and the answer of the model.
func (m *mapper) response(r sqlite.Row) {
	id, at := r.Text("id"), when(r)
	m.model(r, at)
	late := m.answered(id, at)
	attached := m.attached(id, at)
	if prompt := r.Text("prompt"); prompt != "" || len(attached) > 0 ||
		len(m.results[id]) == len(late) {
		m.Prompt(id, at, prompt, attached...)
	}
	end := at.Add(time.Duration(r.Int("duration_ms")) * time.Millisecond)
	if text := r.Text("reasoning"); text != "" {
		m.Reasoning(id+".t", end, id, text, events.Metadata{})
	}
	if text := r.Text("response"); text != "" {
		m.Message(id+".m", end, id, text, events.Metadata{})
	}
	for i, call := range m.calls[id] {
		m.call(id+".c"+strconv.Itoa(i), end, id, callOf(call, id, i))
	}
	for _, tell := range late {
		tell()
	}
	m.Usage(id, usage(r))
	m.details("response", r, at, "system", "options_json", "response_json", "token_details",
		"schema_id", "duration_ms", "resolved_model")
	if len(m.calls[id]) == 0 {
		m.Complete()
	}
}

// answered adds the results in the input of a response. Results of its own calls, as programs that
// use llm log them, must follow the calls: it returns functions that add them.
func (m *mapper) answered(id string, at time.Time) (late []func()) {
	for i, r := range m.results[id] {
		call, key := r.Text("tool_call_id"), id+".r"+strconv.Itoa(i)
		said := said{text: r.Text("output"), exception: r.Text("exception")}
		tell := func() { m.result(key, at, call, said, m.filesOf(m.given[idOf(r, "id")], at)) }
		if m.called[call] {
			tell()
		} else {
			late = append(late, tell)
		}
	}
	return late
}

// A said result has the texts of a result: an exception is often, but not always, in its output.
type said struct{ text, exception string }

// result adds the result of a call.
func (m *mapper) result(
	key string, at time.Time, call string, s said, files []sessions.Attachment,
) {
	blocks := []sessions.Block{{Text: cmp.Or(s.text, s.exception)}}
	for _, a := range files {
		if strings.HasPrefix(a.MIMEType, "text/") {
			blocks = append(blocks, sessions.Block{Text: string(a.Content)})
		} else {
			blocks = append(blocks, sessions.Block{MIMEType: a.MIMEType, Data: a.Content})
		}
	}
	m.Result(key, at, call, s.exception != "", blocks...)
	if !strings.Contains(blocks[0].Text, s.exception) {
		m.Record(at, "exception", sessions.Marshal(map[string]string{
			"tool_call_id": call, "exception": s.exception,
		}))
	}
}

func callOf(r sqlite.Row, response string, i int) sessions.Call {
	c := sessions.Call{
		ID: r.Text("tool_call_id"), Name: r.Text("name"), Arguments: r.Bytes("arguments"),
	}
	if c.ID == "" { // some models give no id
		c.ID = response + "." + strconv.Itoa(i)
	}
	return c
}

func (m *mapper) call(key string, at time.Time, reply string, c sessions.Call) {
	m.called[c.ID] = true
	m.Call(key, at, reply, c)
}

func (m *mapper) model(r sqlite.Row, at time.Time) {
	if name := r.Text("model"); name != "" {
		prefix, rest, ok := strings.Cut(name, "/")
		if !ok {
			prefix, rest = "", name
		}
		provider := sessions.Provider(prefix, name)
		if provider != prefix {
			rest = name // a prefix that is part of the name
		}
		m.Model(at, provider, rest)
	}
}

// details keeps the columns of a row that have no counterpart, and the system prompt when it
// changes.
func (m *mapper) details(kind string, r sqlite.Row, at time.Time, columns ...string) {
	all := map[string]any{"id": r.Text("id")}
	for _, column := range columns {
		switch text := r.Text(column); {
		case text == "" && r.Int(column) != 0:
			all[column] = r.Int(column)
		case text == "" || text == "{}" || column == "system" && text == m.systems:
		case jsontext.Value(text).IsValid() && column != "system":
			all[column] = jsontext.Value(text)
		default:
			all[column] = text
		}
	}
	if text := r.Text("system"); text != "" {
		m.systems = text
	}
	for _, f := range m.system[r.Text("id")] {
		all["system_fragment "+f.Text("hash")] = f.Text("content")
	}
	if schema := m.schemas[r.Text("schema_id")]; schema != "" {
		all["schema"] = asJSON(schema)
	}
	if len(all) > 1 {
		m.Record(at, kind, sessions.Marshal(all))
	}
	for _, tool := range m.tools[r.Text("id")] {
		m.beside("tool", tool)
	}
	m.beside(kind, r)
}

// beside keeps the texts of a row that are not said.
func (m *mapper) beside(kind string, r sqlite.Row) {
	all := map[string]string{}
	for _, column := range r.Columns() {
		if text := r.Text(column); text != "" {
			all[column] = text
		}
	}
	m.Beside(kind, sessions.Marshal(all))
}

// attached returns the fragments and attachments of a row. Those without content have only a name.
func (m *mapper) attached(id string, at time.Time) (all []sessions.Attachment) {
	for _, f := range m.fragments[id] {
		a := sessions.Attachment{MIMEType: "text/plain", Content: f.Bytes("content")}
		source := f.Text("source")
		if path.IsAbs(source) {
			a.Name = source
		} else if source != "" {
			m.Record(at, "fragment", sessions.Marshal(map[string]string{
				"hash": f.Text("hash"), "source": source,
			}))
		}
		all = append(all, a)
	}
	return append(all, m.filesOf(m.attachments[id], at)...)
}

// filesOf returns the attachments in some rows.
func (m *mapper) filesOf(rows []sqlite.Row, at time.Time) (all []sessions.Attachment) {
	for _, r := range rows {
		if r.Has("content") {
			all = append(all, sessions.Attachment{
				MIMEType: r.Text("type"), Content: r.Bytes("content"),
			})
			continue
		}
		m.Record(at, "attachment", sessions.Marshal(map[string]string{
			"id": r.Text("id"), "type": r.Text("type"), "path": r.Text("path"),
			"url": r.Text("url"),
		}))
	}
	return all
}

// usage returns the tokens of a response or a turn. The details have the provider's names.
func usage(r sqlite.Row) compact.Usage {
	u := compact.Usage{
		Input: r.Int("input_tokens"), Output: r.Int("output_tokens"), Model: r.Text("model"),
	}
	if name := r.Text("resolved_model"); name != "" {
		u.Model = name
	}
	var d struct {
		Read   sessions.Number `json:"cache_read_input_tokens"`
		Write  sessions.Number `json:"cache_creation_input_tokens"`
		Prompt struct {
			Cached sessions.Number `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
	if sessions.Unmarshal(r.Bytes("token_details"), &d) == nil {
		u.CacheRead, u.CacheWrite = int64(d.Read), int64(d.Write)
		if cached := int64(d.Prompt.Cached); cached > 0 && cached <= u.Input {
			u.CacheRead, u.Input = cached, u.Input-cached // llm counts them as input
		}
	}
	return u
}
