package events

import (
	"bytes"
	"math"
	"strconv"

	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// Canonical returns the stream as today's jp would write it, which drops members that jp does not
// know. It serves to compare with jp.
func (s *Stream) Canonical() []byte {
	if len(s.items) == 0 {
		return []byte("[]\n")
	}
	b := []byte{'['}
	for i, e := range s.All() {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, "\n"+jsonspan.IndentStep...), e.Canonical()...)
	}
	return append(b, "\n]\n"...)
}

// Canonical returns the element as today's jp would write it, indented as in a file. Members that
// jp does not know are dropped. Elements that jp cannot read, such as content blocks, keep their
// meaning in canonical form; settings of a flattened [ConfigDelta], which jp loses, become its
// delta.
func (e *Element) Canonical() []byte {
	if e.isBroken() {
		return e.raw
	}
	return jsonspan.Indented(jsonspan.Rewriter{Number: jpNumber}.Rewrite(e.canonical()), 1)
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

// jpNumber appends a JSON number as jp writes it: integers that fit 64 bits unchanged, all others
// as the shortest float, with ".0" or an exponent.
func jpNumber(dst, n []byte) []byte {
	if string(n) == "-0" {
		return append(dst, "-0.0"...)
	}
	if !bytes.ContainsAny(n, ".eE") && fits64(string(n)) {
		return append(dst, n...)
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return append(dst, n...) // jp cannot read it at all
	}
	return appendFloat(dst, f)
}

func fits64(n string) bool {
	if n[0] == '-' {
		_, err := strconv.ParseInt(n, 10, 64)
		return err == nil
	}
	_, err := strconv.ParseUint(n, 10, 64)
	return err == nil
}

// appendFloat appends f in the format of the Rust formatter that jp uses: positional notation for
// magnitudes from 1e-5 to below 1e16, otherwise an exponent with its sign.
func appendFloat(dst []byte, f float64) []byte {
	abs := math.Abs(f)
	if abs != 0 && (abs < 1e-5 || abs >= 1e16) {
		start := len(dst)
		dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
		return trimExponent(dst, start)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	if bytes.IndexByte(dst[start:], '.') < 0 {
		dst = append(dst, ".0"...)
	}
	return dst
}

// trimExponent removes Go's leading zero from a one-digit exponent.
func trimExponent(b []byte, start int) []byte {
	digit := start + bytes.IndexByte(b[start:], 'e') + 2
	if b[digit] == '0' && digit+1 < len(b) {
		b = append(b[:digit], b[digit+1:]...)
	}
	return b
}
