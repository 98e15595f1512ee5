package jsonspan

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A Rewriter copies valid JSON without its white space. It passes string values and numbers to
// functions that append their replacements; a nil function copies. Names of members are written in
// jp's spelling.
type Rewriter struct {
	Text   func(dst, quoted []byte) []byte
	Number func(dst, number []byte) []byte
}

// Rewrite returns the copy.
func (r Rewriter) Rewrite(v []byte) jsontext.Value {
	return r.Append(make([]byte, 0, len(v)+len(v)/4), v, Compacted)
}

// Append appends the copy, indented for a depth.
func (r Rewriter) Append(dst, v []byte, depth int) []byte {
	for i := SkipSpace(v, 0); i < len(v); i = SkipSpace(v, i) {
		end := i + 1
		switch c := v[i]; {
		case c == '"':
			end = StringEnd(v, i)
			dst = r.appendString(dst, v, Span{i, end})
		case c == '{' || c == '[':
			dst = append(dst, c)
			if end = SkipSpace(v, end); v[end] == c+2 { // the closing bracket in ASCII
				dst = append(dst, c+2)
				end++
				break
			}
			depth = deeper(depth)
			dst = append(dst, newline(depth)...)
		case c == '}' || c == ']':
			depth = max(depth-1, Compacted)
			dst = append(append(dst, newline(depth)...), c)
		case c == ',':
			dst = append(append(dst, c), newline(depth)...)
		case c == ':':
			dst = append(dst, colon(depth)...)
		case c == '-' || '0' <= c && c <= '9':
			end = ValueEnd(v, i)
			if r.Number != nil {
				dst = r.Number(dst, v[i:end])
			} else {
				dst = append(dst, v[i:end]...)
			}
		default:
			dst = append(dst, c)
		}
		i = end
	}
	return dst
}

func (r Rewriter) appendString(dst, v []byte, s Span) []byte {
	next := SkipSpace(v, s.End)
	isName, quoted := next < len(v) && v[next] == ':', v[s.At:s.End]
	switch {
	case isName && bytes.IndexByte(quoted, '\\') >= 0:
		return Quote(dst, Unquote(quoted))
	case isName || r.Text == nil:
		return append(dst, quoted...)
	}
	return r.Text(dst, quoted)
}

// Compact returns v without white space and with its strings in jp's spelling. Numbers keep their
// spelling. Invalid JSON is returned unchanged, for Validate to report.
func Compact(v []byte) []byte {
	// On an error the input is appended.
	b, _ := jsontext.AppendFormat(make([]byte, 0, len(v)), v)
	return b
}

// Indented returns v as it is written at the given depth of a canonical file.
func Indented(v []byte, depth int) []byte {
	return AppendIndented(make([]byte, 0, len(v)+len(v)/4), v, depth)
}

// AppendIndented appends the result of [Indented], or of [Compact] if depth is [Compacted].
func AppendIndented(dst, v []byte, depth int) []byte {
	switch {
	case bytes.IndexByte(v, '\\') < 0 && IsUsual(v): // no string has an escape to normalize
		return Rewriter{}.Append(dst, v, depth)
	case depth == Compacted:
		dst, _ = jsontext.AppendFormat(dst, v)
		return dst
	}
	dst, _ = jsontext.AppendFormat(dst, v, jsontext.WithIndent(IndentStep),
		jsontext.WithIndentPrefix(newline(depth)[1:]))
	return dst
}

// IndentStep is the indentation of one level.
const IndentStep = "  "

// Compacted is the depth of JSON without white space.
const Compacted = -1

// deeper returns the depth of the elements of a container.
func deeper(depth int) int {
	if depth == Compacted {
		return depth
	}
	return depth + 1
}

func colon(depth int) string {
	if depth == Compacted {
		return ":"
	}
	return ": "
}

// newline returns a line break and the indentation of the given depth.
func newline(depth int) string {
	const deep = "\n                        "
	if depth == Compacted {
		return ""
	}
	if n := 1 + len(IndentStep)*depth; n <= len(deep) {
		return deep[:n]
	}
	return "\n" + strings.Repeat(IndentStep, depth)
}

// Normal returns v with sorted members and one spelling of numbers.
func Normal(v []byte) []byte {
	if !jsontext.Value(v).IsValid() {
		return v
	}
	plain := Rewriter{Number: NormalNumber}.Rewrite(v)
	// The value is valid, so this cannot fail.
	b, _ := jsontext.AppendFormat(nil, plain, jsontext.ReorderRawObjects(true))
	return b
}
