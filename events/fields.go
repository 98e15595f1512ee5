package events

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// The functions of this file say how an event is written: which members, in which
// order, in which form. Everything that writes an element goes through them.

// elementFields returns the members of an element, absent ones included, in jp's
// order.
func elementFields(at time.Time, ev Event, md Metadata) []field {
	stamp := field{name: "timestamp", value: timeValue(at)}
	kind := field{name: "type", value: quoted(string(ev.Kind()))}
	switch ev := ev.(type) {
	case *ConfigDelta, *Compaction:
		if at.IsZero() {
			stamp.value = nil
		}
		return append([]field{kind, stamp}, eventFields(ev)...)
	case *Unknown:
		if at.IsZero() {
			stamp.value = nil
		}
		if ev.Type == "" {
			kind.value = nil
		}
		return []field{stamp, kind}
	}
	fs := append([]field{stamp, kind}, eventFields(ev)...)
	return append(fs, field{name: "metadata", value: md.encoded()})
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
			{name: "arguments", value: compact(encodeStrings(orEmpty(ev.Arguments)))},
		}
	case *ToolCallResponse:
		return []field{
			stringField("id", ev.ID),
			{name: "content", value: encodeBlocks(ev.Blocks)},
			{name: "is_error", value: strconv.AppendBool(nil, ev.IsError)},
		}
	case *InquiryRequest:
		return []field{
			stringField("id", ev.ID),
			{name: "source", value: compact(orEmpty(ev.Source))},
			{name: "question", value: compact(orEmpty(ev.Question))},
		}
	case *InquiryResponse:
		return []field{
			stringField("id", ev.ID),
			{name: "answer", value: compact(orNull(ev.Answer))},
		}
	case *ConfigDelta:
		if ev.Flattened {
			return []field{{name: "delta"}}
		}
		return []field{{name: "delta", value: compact(orEmpty(ev.Delta))}}
	case *Compaction:
		return ev.fields()
	default:
		return nil
	}
}

func (r *ChatRequest) fields() []field {
	return []field{
		stringField("content", r.Content),
		{name: "schema", value: compactOrNil(r.Schema)},
		optionalString("author", r.Author),
		{name: "resources", value: encodeResources(r.Resources)},
	}
}

func (r *ChatResponse) fields() []field {
	fs := []field{{name: "message"}, {name: "reasoning"}, {name: "data"}}
	switch r.Form {
	case FormReasoning:
		fs[1].value = quoted(r.Text)
	case FormData:
		fs[2].value = compact(orNull(r.Data))
	default:
		fs[0].value = quoted(r.Text)
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

func stringField(name, s string) field { return field{name: name, value: quoted(s)} }

// optionalString is absent when s is empty.
func optionalString(name, s string) field {
	if s == "" {
		return field{name: name}
	}
	return stringField(name, s)
}

func compactOrNil(v jsontext.Value) []byte {
	if v == nil {
		return nil
	}
	return compact(v)
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
