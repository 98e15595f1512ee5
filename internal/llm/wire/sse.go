package wire

import (
	"bytes"
	"io"
	"iter"
)

// ReadSSE yields the data of the events of a stream that have any, by the HTML standard: comments
// and unknown fields are skipped, data lines are joined. Data is valid until the next event. Bytes
// that are not UTF-8 are replaced. A last event without the empty line at its end counts if its
// data is complete; else the stream ends with [io.ErrUnexpectedEOF]. A text that has no event ends
// with a [*ForeignError].
func ReadSSE(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := newLineReader(r)
		var ev sseEvent
		for line, ok := lines.next(); ok; line, ok = lines.next() {
			if len(line) > 0 {
				ev.field(line)
				continue
			}
			if ev.any && !yield(ev.data, nil) {
				return
			}
			ev.data, ev.any = ev.data[:0], false
		}
		switch err := lines.scanner.Err(); {
		case err != nil:
			yield(nil, err)
		case !ev.known && len(bytes.TrimSpace(ev.foreign)) > len("event"): // else it may be cut off
			yield(nil, &ForeignError{Body: ev.foreign})
		default:
			ev.last(lines.cut, yield)
		}
	}
}

// An sseEvent is an event that is being read.
type sseEvent struct {
	data []byte
	any  bool // it has a data field

	known   bool    // a line of the stream was a field or a comment
	foreign foreign // the lines before that
}

func (e *sseEvent) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		if e.any {
			e.data = append(e.data, '\n')
		}
		e.data, e.any = append(e.data, value...), true
	case "", "event", "id", "retry":
	default:
		if !e.known {
			e.foreign.add(line)
		}
		return
	}
	e.known, e.foreign = true, nil
}

// last yields the event at the end of a stream.
func (e *sseEvent) last(cut bool, yield func([]byte, error) bool) {
	switch {
	case e.any && finished(bytes.TrimSpace(e.data)):
		yield(e.data, nil)
	case e.any || cut:
		yield(nil, io.ErrUnexpectedEOF)
	}
}
