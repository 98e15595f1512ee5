package events

import (
	"strconv"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// The functions of this file say how an event is written: which members, in which
// order, in which form. Everything that writes an element goes through them.

// elementFields returns the members of an element, absent ones included, in jp's
// order.
func elementFields(at time.Time, ev Event, md Metadata) []jsonspan.Field {
	stamp := jsonspan.Field{Name: "timestamp", From: timeSource(at)}
	if at.IsZero() && !ev.Kind().IsEvent() {
		stamp.From = nil // the others may lack it
	}
	kind := stringField("type", string(ev.Kind()))
	switch ev := ev.(type) {
	case *ConfigDelta, *Compaction:
		return append([]jsonspan.Field{kind, stamp}, eventFields(ev, md)...)
	case *Unknown:
		return []jsonspan.Field{stamp, optionalString("type", ev.Type)}
	}
	return append(append([]jsonspan.Field{stamp, kind}, eventFields(ev, md)...), md.field())
}

// eventFields returns the members that belong to the kind of an event with the metadata.
func eventFields(ev Event, md Metadata) []jsonspan.Field {
	switch ev := ev.(type) {
	case *ChatRequest:
		return ev.fields()
	case *ChatResponse:
		return ev.fields()
	case *ToolCallRequest:
		return []jsonspan.Field{
			stringField("id", ev.ID),
			stringField("name", ev.Name),
			{Name: "arguments", From: encodedSource{orEmpty(ev.Arguments), md}},
		}
	case *ToolCallResponse:
		return []jsonspan.Field{
			stringField("id", ev.ID),
			{Name: "content", From: blocksSource(ev.Blocks)},
			{Name: "is_error", Value: strconv.AppendBool(nil, ev.IsError)},
		}
	case *InquiryRequest:
		return []jsonspan.Field{
			stringField("id", ev.ID),
			{Name: "source", From: jsonSource(orEmpty(ev.Source))},
			{Name: "question", From: jsonSource(orEmpty(ev.Question))},
		}
	case *InquiryResponse:
		return []jsonspan.Field{
			stringField("id", ev.ID),
			{Name: "answer", From: jsonSource(orNull(ev.Answer))},
		}
	case *ConfigDelta:
		if ev.Flattened {
			return []jsonspan.Field{{Name: "delta"}}
		}
		return []jsonspan.Field{{Name: "delta", From: jsonSource(orEmpty(ev.Delta))}}
	case *Compaction:
		return ev.fields()
	default:
		return nil
	}
}

func (r *ChatRequest) fields() []jsonspan.Field {
	resources := jsonspan.Field{Name: "resources"}
	if len(r.Resources) > 0 {
		resources.From = resourcesSource(r.Resources)
	}
	return []jsonspan.Field{
		stringField("content", r.Content),
		optionalJSON("schema", r.Schema),
		optionalString("author", r.Author),
		resources,
	}
}

func (r *ChatResponse) fields() []jsonspan.Field {
	fs := []jsonspan.Field{{Name: "message"}, {Name: "reasoning"}, {Name: "data"}}
	switch r.Form {
	case FormReasoning:
		fs[1].From = textSource(r.Text)
	case FormData:
		fs[2].From = jsonSource(orNull(r.Data))
	default:
		fs[0].From = textSource(r.Text)
	}
	return fs
}

func (c *Compaction) fields() []jsonspan.Field {
	fs := []jsonspan.Field{
		{Name: "from_turn", Value: strconv.AppendInt(nil, int64(c.FromTurn), 10)},
		{Name: "to_turn", Value: strconv.AppendInt(nil, int64(c.ToTurn), 10)},
		{Name: "summary"},
		{Name: "reasoning"},
		{Name: "tool_calls"},
	}
	if c.Summary != nil {
		fs[2].Value = jsonspan.Object([]jsonspan.Field{stringField("summary", *c.Summary)})
	}
	if c.StripReasoning {
		fs[3].Value = jsonspan.Quoted("strip")
	}
	if c.ToolCalls != nil {
		fs[4].Value = c.ToolCalls.encode()
	}
	return fs
}

func (p *ToolCallPolicy) encode() []byte {
	if p.Omit {
		return jsonspan.Object([]jsonspan.Field{stringField("policy", "omit")})
	}
	return jsonspan.Object([]jsonspan.Field{
		stringField("policy", "strip"),
		{Name: "request", Value: strconv.AppendBool(nil, p.Request)},
		{Name: "response", Value: strconv.AppendBool(nil, p.Response)},
	})
}

func stringField(name, s string) jsonspan.Field {
	return jsonspan.Field{Name: name, From: textSource(s)}
}

// optionalString is absent when s is empty.
func optionalString(name, s string) jsonspan.Field {
	if s == "" {
		return jsonspan.Field{Name: name}
	}
	return stringField(name, s)
}

// optionalJSON is absent when v is nil.
func optionalJSON(name string, v jsontext.Value) jsonspan.Field {
	if v == nil {
		return jsonspan.Field{Name: name}
	}
	return jsonspan.Field{Name: name, From: jsonSource(v)}
}

// contentField is absent when there is no content. It stands in for its other forms.
func contentField(name string, c blobs.Content, replaces ...string) jsonspan.Field {
	if c.IsZero() {
		return jsonspan.Field{Name: name, Replaces: replaces}
	}
	return jsonspan.Field{Name: name, From: contentSource(c), Replaces: replaces}
}

func orEmpty(v jsontext.Value) jsontext.Value {
	if v == nil {
		return jsontext.Value("{}")
	}
	return v
}

func orNull(v jsontext.Value) jsontext.Value {
	if v == nil {
		return jsontext.Value("null")
	}
	return v
}
