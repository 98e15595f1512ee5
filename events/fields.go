package events

import (
	"strconv"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// The functions of this file define how an event is written: which members, in which order, in
// which form. All writing of elements uses them.

// elementFields returns the members of an element in jp's order, including absent ones.
func elementFields(at time.Time, ev Event, md Metadata) []jsonspan.Field {
	return appendElement(make([]jsonspan.Field, 0, usualFields), at, ev, md)
}

// appendElement is [elementFields] with a buffer of the caller.
func appendElement(
	fs []jsonspan.Field, at time.Time, ev Event, md Metadata,
) []jsonspan.Field {
	stamp := jsonspan.Field{Name: "timestamp", From: timeSource(at)}
	if at.IsZero() && !ev.Kind().IsEvent() {
		stamp.From = nil // global elements may lack it
	}
	kind := stringField("type", string(ev.Kind()))
	switch ev := ev.(type) {
	case *ConfigDelta, *Compaction:
		return appendFields(append(fs, kind, stamp), ev, md)
	case *Unknown:
		return append(fs, stamp, optionalString("type", ev.Type))
	}
	return append(appendFields(append(fs, stamp, kind), ev, md), md.field())
}

// usualFields is the largest number of members that an element usually has.
const usualFields = 7

// appendFields appends the members that are specific to ev's kind. md is the event's metadata.
func appendFields(fs []jsonspan.Field, ev Event, md Metadata) []jsonspan.Field {
	switch ev := ev.(type) {
	case *ChatRequest:
		return append(fs,
			stringField("content", ev.Content),
			optionalJSON("schema", ev.Schema),
			optionalString("author", ev.Author),
			resourcesField(ev.Resources))
	case *ChatResponse:
		return ev.appendFields(fs)
	case *ToolCallRequest:
		return append(fs,
			stringField("id", ev.ID),
			stringField("name", ev.Name),
			jsonspan.Field{Name: "arguments", From: encodedSource{orEmpty(ev.Arguments), md}})
	case *ToolCallResponse:
		return append(fs,
			stringField("id", ev.ID),
			jsonspan.Field{Name: "content", From: blocksSource(ev.Blocks)},
			literalField("is_error", strconv.FormatBool(ev.IsError)))
	case *InquiryRequest:
		return append(fs,
			stringField("id", ev.ID),
			optionalJSON("source", orEmpty(ev.Source)),
			optionalJSON("question", orEmpty(ev.Question)))
	case *InquiryResponse:
		return append(fs, stringField("id", ev.ID), optionalJSON("answer", orNull(ev.Answer)))
	case *ConfigDelta:
		if ev.Flattened {
			return append(fs, jsonspan.Field{Name: "delta"})
		}
		return append(fs, optionalJSON("delta", orEmpty(ev.Delta)))
	case *Compaction:
		return ev.appendFields(fs)
	default:
		return fs
	}
}

func resourcesField(resources []Resource) jsonspan.Field {
	if len(resources) == 0 {
		return jsonspan.Field{Name: "resources"}
	}
	return jsonspan.Field{Name: "resources", From: resourcesSource(resources)}
}

func (r *ChatResponse) appendFields(fs []jsonspan.Field) []jsonspan.Field {
	fs = append(fs,
		jsonspan.Field{Name: "message"}, jsonspan.Field{Name: "reasoning"},
		jsonspan.Field{Name: "data"})
	own := fs[len(fs)-3:]
	switch r.Form {
	case FormReasoning:
		own[1].From = textSource(r.Text)
	case FormData:
		own[2].From = jsonSource(orNull(r.Data))
	default:
		own[0].From = textSource(r.Text)
	}
	return fs
}

func (c *Compaction) appendFields(fs []jsonspan.Field) []jsonspan.Field {
	fs = append(fs,
		literalField("from_turn", strconv.Itoa(c.FromTurn)),
		literalField("to_turn", strconv.Itoa(c.ToTurn)),
		jsonspan.Field{Name: "summary"}, jsonspan.Field{Name: "reasoning"},
		jsonspan.Field{Name: "tool_calls"})
	own := fs[len(fs)-3:]
	if c.Summary != nil {
		own[0].Value = jsonspan.Object([]jsonspan.Field{stringField("summary", *c.Summary)})
	}
	if c.StripReasoning {
		own[1].From = textSource("strip")
	}
	if c.ToolCalls != nil {
		own[2].Value = c.ToolCalls.encode()
	}
	return fs
}

func (p *ToolCallPolicy) encode() []byte {
	if p.Omit {
		return jsonspan.Object([]jsonspan.Field{stringField("policy", "omit")})
	}
	return jsonspan.Object([]jsonspan.Field{
		stringField("policy", "strip"),
		literalField("request", strconv.FormatBool(p.Request)),
		literalField("response", strconv.FormatBool(p.Response)),
	})
}

func stringField(name, s string) jsonspan.Field {
	return jsonspan.Field{Name: name, From: textSource(s)}
}

// literalField returns a field that holds a number or a boolean.
func literalField(name, literal string) jsonspan.Field {
	return jsonspan.Field{Name: name, From: literalSource(literal)}
}

// optionalString returns a field that is absent if s is empty.
func optionalString(name, s string) jsonspan.Field {
	if s == "" {
		return jsonspan.Field{Name: name}
	}
	return stringField(name, s)
}

// optionalJSON returns a field that is absent if v is nil.
func optionalJSON(name string, v jsontext.Value) jsonspan.Field {
	if v == nil {
		return jsonspan.Field{Name: name}
	}
	return jsonspan.Field{Name: name, From: jsonSource(v)}
}

// contentField returns a field that is absent if c is zero. It replaces the members that hold other
// forms of the content.
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
