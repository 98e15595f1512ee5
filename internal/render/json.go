package render

import (
	"encoding/json"
	"io"
	"time"
	"unicode/utf8"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
)

// A jsonEvent is one event for programs. Names are stable; members that do not apply are absent.
// Turns count from 1, elements from 0 as in the file.
type jsonEvent struct {
	Turn   int `json:"turn,omitempty"`
	TurnTo int `json:"turn_to,omitempty"` // of a summary of several turns
	// Parallel are the first and the last of the turns directly before this one that its author did
	// not know.
	Parallel []int `json:"parallel_to,omitempty"`

	Element int        `json:"element"`
	Type    string     `json:"type"`
	Time    *time.Time `json:"time,omitempty"`

	Author    string          `json:"author,omitempty"`
	Form      string          `json:"form,omitempty"` // message, reasoning, data
	Text      *string         `json:"text,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
	Schema    json.RawMessage `json:"schema,omitempty"`
	Resources []jsonContent   `json:"resources,omitempty"`

	ID        string          `json:"id,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	IsError   *bool           `json:"is_error,omitempty"`
	Blocks    []jsonContent   `json:"blocks,omitempty"`

	Source   json.RawMessage `json:"source,omitempty"`
	Question json.RawMessage `json:"question,omitempty"`
	Answer   json.RawMessage `json:"answer,omitempty"`

	Delta      json.RawMessage `json:"delta,omitempty"`
	Compaction *jsonCompaction `json:"compaction,omitempty"`
	Unknown    json.RawMessage `json:"unknown,omitempty"` // the element verbatim

	Metadata json.RawMessage `json:"metadata,omitempty"` // strings decoded
}

// A jsonContent is a content of an event. It has text, base64 or raw when it was opened, and error
// when it could not be.
type jsonContent struct {
	Type     string          `json:"type"`
	URI      string          `json:"uri,omitempty"`
	Title    string          `json:"title,omitempty"`
	MIMEType string          `json:"mime_type,omitempty"`
	SHA256   string          `json:"sha256,omitempty"`
	Size     *int64          `json:"size,omitempty"`
	Text     *string         `json:"text,omitempty"`
	Base64   []byte          `json:"base64,omitempty"`
	Raw      json.RawMessage `json:"raw,omitempty"`
	Error    string          `json:"error,omitempty"`
	// Formatted is what the model was sent in place of the content.
	Formatted *jsonFormatted `json:"formatted,omitempty"`
}

type jsonFormatted struct {
	Text   *string `json:"text,omitempty"`
	Base64 []byte  `json:"base64,omitempty"`
	Error  string  `json:"error,omitempty"`
}

// A jsonCompaction is the effect of a compaction, its turns counted from 1.
type jsonCompaction struct {
	FromTurn      int     `json:"from_turn"`
	ToTurn        int     `json:"to_turn"`
	Summary       *string `json:"summary,omitempty"`
	Reasoning     string  `json:"reasoning,omitempty"`
	ToolRequests  string  `json:"tool_requests,omitempty"`
	ToolResponses string  `json:"tool_responses,omitempty"`
}

// A jsonFormatter writes one event a line.
type jsonFormatter struct{ w *JSONLines }

func (f *jsonFormatter) begin(int) error    { return nil }
func (f *jsonFormatter) turn(turn) error    { return nil }
func (f *jsonFormatter) end() error         { return nil }
func (f *jsonFormatter) item(it item) error { return f.w.Write(eventJSON(it)) }

func eventJSON(it item) jsonEvent {
	e := jsonEvent{Turn: it.turn.from, Element: it.index, Type: string(it.el.Kind())}
	if it.turn.to != it.turn.from {
		e.TurnTo = it.turn.to
	}
	if p := it.turn.parallel; p != nil {
		e.Parallel = []int{p.from, p.to}
	}
	if at := it.el.Time(); !at.IsZero() {
		e.Time = &at
	}
	e.Metadata = metadataJSON(it.el.Metadata())
	switch ev := it.el.Event().(type) {
	case *events.TurnStart:
	case *events.ChatRequest:
		e.Author, e.Text, e.Schema = ev.Author, &ev.Content, json.RawMessage(ev.Schema)
		e.Resources = contentsJSON(it.parts)
	case *events.ChatResponse:
		e.response(ev)
	case *events.ToolCallRequest:
		e.ID, e.Tool, e.Arguments = ev.ID, ev.Name, json.RawMessage(ev.Arguments)
	case *events.ToolCallResponse:
		e.ID, e.Tool, e.IsError = ev.ID, it.tool, &ev.IsError
		e.Blocks = contentsJSON(it.parts)
	case *events.InquiryRequest:
		e.ID, e.Source = ev.ID, json.RawMessage(ev.Source)
		e.Question = json.RawMessage(ev.Question)
	case *events.InquiryResponse:
		e.ID, e.Answer = ev.ID, json.RawMessage(ev.Answer)
	case *events.ConfigDelta:
		e.Delta = json.RawMessage(ev.Delta)
	case *events.Compaction:
		e.Compaction = compactionJSON(ev)
	default:
		e.Unknown = json.RawMessage(it.el.Raw())
	}
	return e
}

func (e *jsonEvent) response(ev *events.ChatResponse) {
	switch ev.Form {
	case events.FormReasoning:
		e.Form, e.Text = "reasoning", &ev.Text
	case events.FormData:
		e.Form, e.Data = "data", json.RawMessage(ev.Data)
	default:
		e.Form, e.Text = "message", &ev.Text
	}
}

func contentsJSON(parts []part) []jsonContent {
	return lists.Map(parts, part.json)
}

func (p part) json() jsonContent {
	c := jsonContent{Type: string(p.kind), URI: p.uri, Title: p.title, MIMEType: p.mime}
	if p.hasRef {
		c.SHA256, c.Size = p.ref.Hash.String(), &p.ref.Size
	}
	switch p.state {
	case partText:
		c.Text = &p.text
	case partBinary:
		c.Base64 = p.data
	case partBroken:
		c.Error = p.text
	case partRaw:
		c.Raw = rawJSON(p.text)
	}
	if p.beside != nil {
		f := p.beside.json()
		c.Formatted = &jsonFormatted{Text: f.Text, Base64: f.Base64, Error: f.Error}
	}
	return c
}

// rawJSON guards the encoder against text that is not JSON.
func rawJSON(text string) json.RawMessage {
	if !json.Valid([]byte(text)) || !utf8.ValidString(text) {
		return nil
	}
	return json.RawMessage(text)
}

func compactionJSON(c *events.Compaction) *jsonCompaction {
	j := &jsonCompaction{FromTurn: c.FromTurn + 1, ToTurn: c.ToTurn + 1, Summary: c.Summary}
	if c.StripReasoning {
		j.Reasoning = "strip"
	}
	if p := c.ToolCalls; p != nil {
		if p.Omit {
			j.ToolRequests, j.ToolResponses = "omit", "omit"
		}
		if p.Request {
			j.ToolRequests = "strip"
		}
		if p.Response {
			j.ToolResponses = "strip"
		}
	}
	return j
}

func metadataJSON(md events.Metadata) json.RawMessage {
	if md.Len() == 0 {
		return nil
	}
	b := []byte{'{'}
	for i, key := range md.Keys() {
		if i > 0 {
			b = append(b, ',')
		}
		name, err := json.Marshal(key)
		if err != nil {
			continue
		}
		value, _ := md.Value(key)
		b = append(append(append(b, name...), ':'), value...)
	}
	return append(b, '}')
}

// A documentFormatter writes one JSON document, without holding it in memory.
type documentFormatter struct {
	w     io.Writer
	conv  Conversation
	out   Output
	wrote bool
}

type jsonHead struct {
	ID        string    `json:"id"`
	Title     string    `json:"title,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	Turns     int       `json:"turns"`
}

func (f *documentFormatter) begin(turns int) error {
	head, err := encodeJSON(jsonHead{
		ID: f.conv.ID.String(), Title: f.conv.Title, CreatedAt: f.conv.created(), Turns: turns,
	}, f.out)
	if err != nil {
		return err
	}
	head = append(head[:len(head)-2], `,"events":[`...) // without "}\n"
	_, err = f.w.Write(head)
	return err
}

func (f *documentFormatter) turn(turn) error { return nil }

func (f *documentFormatter) item(it item) error {
	line, err := encodeJSON(eventJSON(it), f.out)
	if err != nil {
		return err
	}
	lead := "\n"
	if f.wrote {
		lead = ",\n"
	}
	f.wrote = true
	_, err = f.w.Write(append([]byte(lead), line[:len(line)-1]...))
	return err
}

func (f *documentFormatter) end() error {
	_, err := io.WriteString(f.w, "\n]}\n")
	return err
}
