package events

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// Salvage returns the part of an events.json that is before the place at which it was cut off,
// ended behind its last whole element: the bytes of a stream that decodes. It is false for
// what was not cut off, since damage within may have changed what is before it too, and where
// no element is whole. Zeroes at the end, which a power failure leaves, count as cut off.
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
