package events

import (
	"slices"
	"strconv"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/go-json-experiment/json/jsontext"
)

// The functions of this file say how an event is written: which members, in which
// order, in which form. Everything that writes an element goes through them.

// elementFields returns the members of an element, absent ones included, in jp's
// order.
func elementFields(at time.Time, ev Event, md Metadata) []field {
	stamp := field{name: "timestamp", from: timeSource(at)}
	if at.IsZero() && !ev.Kind().IsEvent() {
		stamp.from = nil // the others may lack it
	}
	kind := stringField("type", string(ev.Kind()))
	switch ev := ev.(type) {
	case *ConfigDelta, *Compaction:
		return append([]field{kind, stamp}, eventFields(ev)...)
	case *Unknown:
		return []field{stamp, optionalString("type", ev.Type)}
	}
	return slices.Concat([]field{stamp, kind}, eventFields(ev), []field{md.field()})
}

// eventFields returns the members that belong to the kind.
func eventFields(ev Event) []field {
	switch ev := ev.(type) {
	case *ChatRequest:
		return ev.fields()
	case *ChatResponse:
		return ev.fields()
	case *ToolCallRequest:
		return []field{
			stringField("id", ev.ID),
			stringField("name", ev.Name),
			{name: "arguments", from: encodedSource(orEmpty(ev.Arguments))},
		}
	case *ToolCallResponse:
		return []field{
			stringField("id", ev.ID),
			{name: "content", from: blocksSource(ev.Blocks)},
			{name: "is_error", value: strconv.AppendBool(nil, ev.IsError)},
		}
	case *InquiryRequest:
		return []field{
			stringField("id", ev.ID),
			{name: "source", from: jsonSource(orEmpty(ev.Source))},
			{name: "question", from: jsonSource(orEmpty(ev.Question))},
		}
	case *InquiryResponse:
		return []field{
			stringField("id", ev.ID),
			{name: "answer", from: jsonSource(orNull(ev.Answer))},
		}
	case *ConfigDelta:
		if ev.Flattened {
			return []field{{name: "delta"}}
		}
		return []field{{name: "delta", from: jsonSource(orEmpty(ev.Delta))}}
	case *Compaction:
		return ev.fields()
	default:
		return nil
	}
}

func (r *ChatRequest) fields() []field {
	resources := field{name: "resources"}
	if len(r.Resources) > 0 {
		resources.from = resourcesSource(r.Resources)
	}
	return []field{
		stringField("content", r.Content),
		optionalJSON("schema", r.Schema),
		optionalString("author", r.Author),
		resources,
	}
}

func (r *ChatResponse) fields() []field {
	fs := []field{{name: "message"}, {name: "reasoning"}, {name: "data"}}
	switch r.Form {
	case FormReasoning:
		fs[1].from = textSource(r.Text)
	case FormData:
		fs[2].from = jsonSource(orNull(r.Data))
	default:
		fs[0].from = textSource(r.Text)
	}
	return fs
}

func (c *Compaction) fields() []field {
	fs := []field{
		{name: "from_turn", value: strconv.AppendInt(nil, int64(c.FromTurn), 10)},
		{name: "to_turn", value: strconv.AppendInt(nil, int64(c.ToTurn), 10)},
		{name: "summary"},
		{name: "reasoning"},
		{name: "tool_calls"},
	}
	if c.Summary != nil {
		fs[2].value = object([]field{stringField("summary", *c.Summary)})
	}
	if c.StripReasoning {
		fs[3].value = quoted("strip")
	}
	if c.ToolCalls != nil {
		fs[4].value = c.ToolCalls.encode()
	}
	return fs
}

func (p *ToolCallPolicy) encode() []byte {
	if p.Omit {
		return object([]field{stringField("policy", "omit")})
	}
	return object([]field{
		stringField("policy", "strip"),
		{name: "request", value: strconv.AppendBool(nil, p.Request)},
		{name: "response", value: strconv.AppendBool(nil, p.Response)},
	})
}

func stringField(name, s string) field { return field{name: name, from: textSource(s)} }

// optionalString is absent when s is empty.
func optionalString(name, s string) field {
	if s == "" {
		return field{name: name}
	}
	return stringField(name, s)
}

// optionalJSON is absent when v is nil.
func optionalJSON(name string, v jsontext.Value) field {
	if v == nil {
		return field{name: name}
	}
	return field{name: name, from: jsonSource(v)}
}

// contentField is absent when there is no content. It stands in for its other forms.
func contentField(name string, c blobs.Content, replaces ...string) field {
	if c.IsZero() {
		return field{name: name, replaces: replaces}
	}
	return field{name: name, from: contentSource(c), replaces: replaces}
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
