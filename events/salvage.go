package events

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// Salvage returns the beginning of a truncated events.json, up to its last complete element, as the
// bytes of a stream that decodes. It returns false if the file was not truncated, because damage in
// the middle may have changed earlier bytes too, and if no element is complete. Zero bytes at the
// end, which a power failure leaves, count as truncation.
func Salvage(data []byte) ([]byte, bool) {
	data = bytes.TrimRight(data, "\x00")
	d := jsontext.NewDecoder(bytes.NewBuffer(data))
	if t, err := d.ReadToken(); err != nil || t.Kind() != jsontext.KindBeginArray {
		return nil, false
	}
	end := int64(0)
	for d.PeekKind() != jsontext.KindEndArray {
		err := d.SkipValue()
		if err == nil {
			end = d.InputOffset()
			continue
		}
		if end == 0 || !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, false
		}
		whole := append(bytes.Clone(data[:end]), "\n]\n"...)
		if _, err := Decode(whole); err != nil {
			return nil, false
		}
		return whole, true
	}
	return nil, false
}
