package events

import (
	"bytes"
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// decodeStrings returns v compacted, with each of its strings decoded once.
func decodeStrings(v []byte) jsontext.Value {
	return jsonspan.Rewriter{Text: func(dst, quoted []byte) []byte {
		return jsonspan.Quote(dst, decoded(jsonspan.Unquote(quoted)))
	}}.Rewrite(v)
}

// decoded returns the text that a string in metadata or in arguments encodes.
func decoded(s []byte) []byte {
	if plain, ok := decodeOnce(s); ok {
		return plain
	}
	return s
}

// encodeStrings returns v compacted, with each of its strings encoded as base64.
func encodeStrings(v []byte) jsontext.Value { return Metadata{}.encode(v) }

// appendBase64 appends a JSON string that holds b as base64.
func appendBase64(dst, b []byte) []byte {
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, b)
	return append(dst, '"')
}

// decodeOnce decodes s as jp does: only if it is padded canonical base64 of UTF-8. Any other string
// is plain text.
func decodeOnce(s []byte) ([]byte, bool) {
	b, ok := decodeBase64(standard, s)
	return b, ok && utf8.Valid(b)
}

// decodes returns what [decodeOnce] reports, mostly without allocating.
func decodes(s []byte) bool {
	var room [128]byte
	if !mayBeBase64(s) {
		return false
	}
	if standard.DecodedLen(len(s)) > len(room) {
		n, err := standard.Decode(room[:], s[:len(room)/3*4])
		if err != nil || !beginsText(room[:n]) {
			return false // most long base64 is a signature or encrypted
		}
		_, ok := decodeOnce(s)
		return ok
	}
	n, err := standard.Decode(room[:], s)
	return err == nil && utf8.Valid(room[:n])
}

// beginsText reports whether b may be the beginning of UTF-8 text, cut anywhere.
func beginsText(b []byte) bool {
	for cut := range utf8.UTFMax {
		if utf8.Valid(b[:max(len(b)-cut, 0)]) {
			return true
		}
	}
	return false
}

// The alphabets. Each has exactly one encoding of a byte string.
var (
	standard = base64.StdEncoding.Strict()
	urlSafe  = base64.URLEncoding.Strict()
)

// decodeResult decodes the content of a tool's result. Builds of jp before March 2026 wrote it in
// the URL-safe alphabet, which today's jp takes for plain text.
func decodeResult(s []byte) []byte {
	if b, ok := decodeOnce(s); ok {
		return b
	}
	if bytes.ContainsAny(s, "-_") {
		if b, ok := decodeBase64(urlSafe, s); ok && utf8.Valid(b) {
			return b
		}
	}
	return s
}

// inBase64 is true for the bytes of either alphabet.
var inBase64 = func() (in [256]bool) {
	for c := range len(in) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		in[c] = letter || '0' <= c && c <= '9' || strings.IndexByte("+/-_=", byte(c)) >= 0
	}
	return in
}()

// isBase64 reports whether s consists of bytes of either alphabet.
func isBase64(s []byte) bool {
	for _, c := range s {
		if !inBase64[c] {
			return false
		}
	}
	return true
}

func decodeBase64(enc *base64.Encoding, s []byte) ([]byte, bool) {
	if !mayBeBase64(s) {
		return nil, false
	}
	b := make([]byte, enc.DecodedLen(len(s)))
	n, err := enc.Decode(b, s)
	return b[:n], err == nil
}

// mayBeBase64 keeps Go's decoder, which skips line breaks even when strict, from accepting them. It
// also rejects most other text early, before memory is allocated to decode into.
func mayBeBase64(s []byte) bool { return len(s)%4 == 0 && isBase64(s) }
