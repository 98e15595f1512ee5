package events

import (
	"github.com/go-json-experiment/json/jsontext"
)

// Canonical returns the element as today's jp would write it, which drops members
// that jp does not know, at the depth that elements have in a file. What jp cannot
// read, such as content blocks, stays what it is in canonical form; settings of a
// flattened [ConfigDelta], which jp loses, become its delta.
func (e *Element) Canonical() []byte {
	if e.isBroken() {
		return e.raw
	}
	return indented(rewriter{number: jpNumber}.rewrite(e.canonical()), 1)
}

// canonical returns the element's value before its numbers have jp's spelling.
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
	case *ToolCallResponse:
		if content := memberOf(e.raw, "content"); isString(content) {
			setField(fs, "content", canonicalString(content))
		}
	case *ChatRequest:
		if e.view.resources {
			setField(fs, "resources", nil)
		}
	case *InquiryRequest:
		setField(fs, "source", pick(ev.Source, "source", "name"))
		setField(fs, "question", canonicalQuestion(ev.Question))
	case *ConfigDelta:
		setField(fs, "delta", compact(orEmpty(ev.Delta)))
	}
	return object(fs)
}

// canonicalString decodes once and encodes, which is not the identity for strings
// that jp cannot decode.
func canonicalString(quoted []byte) []byte {
	s := unquote(quoted)
	if plain, ok := decodeOnce(s); ok {
		s = plain
	}
	return appendBase64(nil, s)
}

func canonicalQuestion(q jsontext.Value) []byte {
	fs := pickFields(q, "text", "answer_type", "default")
	setField(fs, "answer_type", canonicalAnswerType(memberOf(q, "answer_type")))
	if d := memberOf(q, "default"); isNull(d) {
		setField(fs, "default", nil)
	}
	return object(fs)
}

func canonicalAnswerType(v jsontext.Value) []byte {
	if !isObject(v) {
		return v
	}
	fs := pickFields(v, "type", "options")
	if options := memberOf(v, "options"); isArray(options) {
		setField(fs, "options", array(elementsOf(options, 0), func(s span) []byte {
			return pick(options[s.at:s.end], "value", "description")
		}))
	}
	return object(fs)
}

// pick returns the object with only the named members, in that order. What is no
// object stays.
func pick(obj jsontext.Value, names ...string) []byte {
	if !isObject(obj) {
		return obj
	}
	return object(pickFields(obj, names...))
}

func pickFields(obj jsontext.Value, names ...string) []field {
	fs := make([]field, len(names))
	for i, name := range names {
		fs[i] = field{name: name, value: memberOf(obj, name)}
	}
	return fs
}
