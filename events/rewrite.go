package events

import (
	"bytes"
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// A rewriter copies valid JSON without its white space, giving string values and
// numbers to functions that append what stands in their place. Names of members
// are copied. A nil function copies.
type rewriter struct {
	text   func(dst, quoted []byte) []byte
	number func(dst, number []byte) []byte
}

func (r rewriter) rewrite(v []byte) jsontext.Value {
	dst := make([]byte, 0, len(v)+len(v)/4)
	for i := skipSpace(v, 0); i < len(v); i = skipSpace(v, i) {
		end := i + 1
		switch c := v[i]; {
		case c == '"':
			end = stringEnd(v, i)
			dst = r.appendString(dst, v, span{i, end})
		case c == '-' || '0' <= c && c <= '9':
			end = valueEnd(v, i)
			if r.number != nil {
				dst = r.number(dst, v[i:end])
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

func (r rewriter) appendString(dst, v []byte, s span) []byte {
	next := skipSpace(v, s.end)
	isName := next < len(v) && v[next] == ':'
	if isName || r.text == nil {
		return append(dst, v[s.at:s.end]...)
	}
	return r.text(dst, v[s.at:s.end])
}

// decodeStrings returns v compact, with each string in it decoded once.
func decodeStrings(v []byte) jsontext.Value {
	return rewriter{text: func(dst, quoted []byte) []byte {
		s := unquote(quoted)
		if plain, ok := decodeOnce(s); ok {
			s = plain
		}
		return quote(dst, s)
	}}.rewrite(v)
}

// encodeStrings returns v compact, with each string in it as base64.
func encodeStrings(v []byte) jsontext.Value {
	if !jsontext.Value(v).IsValid() {
		return v // Validate reports it
	}
	return rewriter{text: func(dst, quoted []byte) []byte {
		return appendBase64(dst, unquote(quoted))
	}}.rewrite(v)
}

// appendBase64 appends b as a JSON string of its base64.
func appendBase64(dst, b []byte) []byte {
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, b)
	return append(dst, '"')
}

// decodeOnce decodes s as jp does: only when it is padded canonical base64 of
// UTF-8. Anything else stands for itself.
func decodeOnce(s []byte) ([]byte, bool) {
	b, ok := decodeBase64(base64.StdEncoding, s)
	return b, ok && utf8.Valid(b)
}

// decodeResult decodes the content of a tool's result. Builds of jp before March
// 2026 wrote it in the URL-safe alphabet, which today's jp takes for plain text.
func decodeResult(s []byte) []byte {
	if b, ok := decodeOnce(s); ok {
		return b
	}
	if bytes.ContainsAny(s, "-_") {
		if b, ok := decodeBase64(base64.URLEncoding, s); ok && utf8.Valid(b) {
			return b
		}
	}
	return s
}

func decodeBase64(enc *base64.Encoding, s []byte) ([]byte, bool) {
	// Go's decoder skips line breaks even when it is strict.
	if len(s)%4 != 0 || bytes.IndexByte(s, '\n') >= 0 || bytes.IndexByte(s, '\r') >= 0 {
		return nil, false
	}
	b := make([]byte, enc.DecodedLen(len(s)))
	n, err := enc.Strict().Decode(b, s)
	return b[:n], err == nil
}

// compact returns v without white space and with its strings in jp's spelling.
// Numbers stay as they are written. What is not JSON is returned as it is, for
// Validate to report.
func compact(v []byte) []byte {
	// On an error the input is appended.
	b, _ := jsontext.AppendFormat(make([]byte, 0, len(v)), v)
	return b
}

// indented returns v as it stands at the given depth of a canonical file.
func indented(v []byte, depth int) []byte {
	b, _ := jsontext.AppendFormat(make([]byte, 0, len(v)+len(v)/4), v,
		jsontext.WithIndent(indentStep),
		jsontext.WithIndentPrefix(strings.Repeat(indentStep, depth)))
	return b
}

const indentStep = "  "

// newline returns a line break and the indentation of the given depth.
func newline(depth int) []byte { return []byte("\n" + strings.Repeat(indentStep, depth)) }
