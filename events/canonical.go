package events

import (
	"github.com/git-jp/git-jp/events/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// Canonical returns the element as today's jp would write it, indented as in a file. Members that
// jp does not know are dropped. Elements that jp cannot read, such as content blocks, keep their
// meaning in canonical form; settings of a flattened [ConfigDelta], which jp loses, become its
// delta.
func (e *Element) Canonical() []byte {
	if e.isBroken() {
		return e.raw
	}
	return jsonspan.Indented(jsonspan.Rewriter{Number: jsonspan.JPNumber}.Rewrite(e.canonical()), 1)
}

// canonical returns the element's value before its numbers are respelled as jp spells them.
func (e *Element) canonical() []byte {
	if _, ok := e.event.(*Unknown); ok {
		return e.raw
	}
	md := e.meta
	if md.raw != nil {
		md.raw = encodeStrings(decodeStrings(md.raw))
	}
	fs := elementFields(e.time, e.event, md)
	switch ev := e.event.(type) {
	case *ToolCallRequest:
		jsonspan.SetField(fs, "arguments", encodeStrings(orEmpty(ev.Arguments)))
	case *ToolCallResponse:
		if content := jsonspan.MemberOf(e.raw, "content"); jsonspan.IsString(content) {
			jsonspan.SetField(fs, "content", canonicalString(content))
		}
	case *ChatRequest:
		if e.view.resources {
			jsonspan.SetField(fs, "resources", nil)
		}
	case *InquiryRequest:
		jsonspan.SetField(fs, "source", pick(ev.Source, "source", "name"))
		jsonspan.SetField(fs, "question", canonicalQuestion(ev.Question))
	case *ConfigDelta:
		jsonspan.SetField(fs, "delta", jsonspan.Compact(orEmpty(ev.Delta)))
	}
	return jsonspan.Object(fs)
}

// canonicalString decodes a string once and encodes it again, as jp does. That changes strings that
// jp cannot decode.
func canonicalString(quoted []byte) []byte {
	s := jsonspan.Unquote(quoted)
	if plain, ok := decodeOnce(s); ok {
		s = plain
	}
	return appendBase64(nil, s)
}

func canonicalQuestion(q jsontext.Value) []byte {
	fs := pickFields(q, "text", "answer_type", "default")
	jsonspan.SetField(fs, "answer_type", canonicalAnswerType(jsonspan.MemberOf(q, "answer_type")))
	if d := jsonspan.MemberOf(q, "default"); jsonspan.IsNull(d) {
		jsonspan.SetField(fs, "default", nil)
	}
	return jsonspan.Object(fs)
}

func canonicalAnswerType(v jsontext.Value) []byte {
	if !jsonspan.IsObject(v) {
		return v
	}
	fs := pickFields(v, "type", "options")
	if options := jsonspan.MemberOf(v, "options"); jsonspan.IsArray(options) {
		named := func(s jsonspan.Span) []byte {
			return pick(options[s.At:s.End], "value", "description")
		}
		jsonspan.SetField(fs, "options", jsonspan.Array(jsonspan.Elements(options, 0), named))
	}
	return jsonspan.Object(fs)
}

// pick returns obj with only the named members, in that order. A value that is not an object is
// returned unchanged.
func pick(obj jsontext.Value, names ...string) []byte {
	if !jsonspan.IsObject(obj) {
		return obj
	}
	return jsonspan.Object(pickFields(obj, names...))
}

func pickFields(obj jsontext.Value, names ...string) []jsonspan.Field {
	fs := make([]jsonspan.Field, len(names))
	for i, name := range names {
		fs[i] = jsonspan.Field{Name: name, Value: jsonspan.MemberOf(obj, name)}
	}
	return fs
}
