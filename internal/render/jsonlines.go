package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf16"
)

// JSONLines writes records for programs, one JSON object a line.
type JSONLines struct {
	w   io.Writer
	out Output
}

// NewJSONLines returns a writer of records to w.
func NewJSONLines(w io.Writer, o Output) *JSONLines { return &JSONLines{w: w, out: o} }

// Write writes one record. On a terminal, characters that it could obey are escaped in the JSON
// way, so the record stays the same.
func (j *JSONLines) Write(record any) error {
	line, err := encodeJSON(record, j.out)
	if err != nil {
		return err
	}
	_, err = j.w.Write(line)
	return err
}

// encodeJSON returns the record as one line with a line feed.
func encodeJSON(record any, o Output) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(record); err != nil {
		return nil, fmt.Errorf("encode record: %w", err)
	}
	if !o.Terminal && !o.Color {
		return b.Bytes(), nil
	}
	return escapeJSON(b.Bytes()), nil
}

// escapeJSON escapes the characters that [Sanitize] would change. Encoded JSON has them only inside
// strings, and no C0 control but the line feeds around records.
func escapeJSON(data []byte) []byte {
	at, prev := firstUnsafe(0, string(data), false)
	if at < 0 {
		return data
	}
	var b bytes.Buffer
	b.Write(data[:at])
	for _, r := range string(data[at:]) {
		shown := !unsafe(r) && !unseen(prev, r, false)
		prev = r
		switch {
		case shown:
			b.WriteRune(r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}
