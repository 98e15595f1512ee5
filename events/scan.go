package events

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// The functions of this file walk JSON that jsontext has found valid; on anything
// else they may panic. They exist because the codec works on spans of the input:
// it needs to know where a value stands, not to have it in another form.

// A member is one name and value of an object, by position in the object's bytes.
type member struct {
	name  string // decoded
	start int    // of the quoted name
	at    int    // of the value
	end   int    // behind the value
}

// value returns the member's value in b, the bytes that were scanned.
func (m member) value(b []byte) []byte { return b[m.at:m.end] }

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// stringEnd returns the index behind the string that begins at b[i].
func stringEnd(b []byte, i int) int {
	for i++; ; {
		quote := i + bytes.IndexByte(b[i:], '"')
		slash := quote
		for slash > i && b[slash-1] == '\\' {
			slash--
		}
		i = quote + 1
		if (quote-slash)%2 == 0 {
			return i
		}
	}
}

// valueEnd returns the index behind the value that begins at b[i].
func valueEnd(b []byte, i int) int {
	end, _ := measure(b, i)
	return end
}

// measure is valueEnd and also counts how deep containers nest in the value.
func measure(b []byte, i int) (end, depth int) {
	switch b[i] {
	case '"':
		return stringEnd(b, i), 0
	case '{', '[':
		return measureContainer(b, i)
	}
	for i < len(b) && strings.IndexByte(",]} \n\t\r", b[i]) < 0 {
		i++
	}
	return i, 0
}

func measureContainer(b []byte, i int) (end, depth int) {
	open := 0
	for {
		switch b[i] {
		case '"':
			i = stringEnd(b, i)
			continue
		case '{', '[':
			open++
			depth = max(depth, open)
		case '}', ']':
			if open--; open == 0 {
				return i + 1, depth
			}
		}
		i++
	}
}

// membersOf appends the members of the object at b[i] to ms. It returns the index
// behind the object and how deep containers nest in it.
func membersOf(b []byte, i int, ms []member) (_ []member, end, depth int) {
	for i = skipSpace(b, i+1); b[i] != '}'; {
		m := member{start: i}
		nameEnd := stringEnd(b, i)
		m.name = memberName(b[i:nameEnd])
		m.at = skipSpace(b, skipSpace(b, nameEnd)+1)
		var d int
		m.end, d = measure(b, m.at)
		ms, depth = append(ms, m), max(depth, d)
		if i = skipSpace(b, m.end); b[i] == ',' {
			i = skipSpace(b, i+1)
		}
	}
	return ms, i + 1, depth + 1
}

// members returns the members of an object's bytes.
func members(obj []byte) []member {
	ms, _, _ := membersOf(obj, skipSpace(obj, 0), make([]member, 0, 8)) // as most have
	return ms
}

// find returns the first member called name.
func find(ms []member, name string) (member, bool) {
	for _, m := range ms {
		if m.name == name {
			return m, true
		}
	}
	return member{}, false
}

// memberOf returns the value of a member, nil when there is none.
func memberOf(obj jsontext.Value, name string) jsontext.Value {
	if !isObject(obj) || !obj.IsValid() {
		return nil
	}
	m, ok := find(members(obj), name)
	if !ok {
		return nil
	}
	return m.value(obj)
}

// A span is the position of an array's element.
type span struct{ at, end int }

// elementsOf returns the spans of the elements of the array at b[i].
func elementsOf(b []byte, i int) []span {
	var spans []span
	for i = skipSpace(b, i+1); b[i] != ']'; {
		s := span{i, valueEnd(b, i)}
		spans = append(spans, s)
		if i = skipSpace(b, s.end); b[i] == ',' {
			i = skipSpace(b, i+1)
		}
	}
	return spans
}

// memberName decodes a quoted name. The names of the format need no allocation.
func memberName(quoted []byte) string {
	switch plain := quoted[1 : len(quoted)-1]; string(plain) {
	case "timestamp":
		return "timestamp"
	case "type":
		return "type"
	case "id":
		return "id"
	case "name":
		return "name"
	case "content":
		return "content"
	case "arguments":
		return "arguments"
	case "is_error":
		return "is_error"
	case "message":
		return "message"
	case "reasoning":
		return "reasoning"
	case "metadata":
		return "metadata"
	case "$blob":
		return "$blob"
	case "size":
		return "size"
	default:
		return text(quoted)
	}
}

// text decodes a JSON string.
func text(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	return string(unquote(quoted))
}

// unquote decodes a JSON string. The result may share memory with it.
func unquote(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	// The error is about invalid strings only.
	b, _ := jsontext.AppendUnquote(make([]byte, 0, len(quoted)), quoted)
	return b
}

// quote appends s as a JSON string in jp's spelling, which escapes only what must
// be escaped. What is not UTF-8 has no such string: it is appended as it is, which is
// no JSON, so that nothing is changed in silence and [Stream.Validate] finds it.
func quote[T ~string | ~[]byte](dst []byte, s T) []byte {
	start := len(dst)
	dst, err := jsontext.AppendQuote(dst, s)
	if err != nil {
		dst = append(append(append(dst[:start], '"'), s...), '"')
	}
	return dst
}

// quoted is quote into a new slice.
func quoted[T ~string | ~[]byte](s T) []byte { return quote(make([]byte, 0, len(s)+2), s) }

// inUTF8 returns s with U+FFFD in place of what is not UTF-8.
func inUTF8(s string) string { return strings.ToValidUTF8(s, string(utf8.RuneError)) }

// notJSON returns what is wrong with v, which is no valid JSON.
func notJSON(v []byte) error {
	if !utf8.Valid(v) {
		return errNotUTF8
	}
	return errNotJSON
}

func isString(v []byte) bool { return len(v) > 0 && v[0] == '"' }
func isObject(v []byte) bool { return len(v) > 0 && v[0] == '{' }
func isArray(v []byte) bool  { return len(v) > 0 && v[0] == '[' }
func isNull(v []byte) bool   { return string(v) == "null" }
