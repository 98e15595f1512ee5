package ask

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/render"
)

// A recorder prints the events of a turn as `print --json` does, each as soon as its position in
// the conversation is known: parts of an answer that end out of order, and results of calls, are in
// the order of their parts and calls, not of their arrival. An event that may be the last of an
// answer waits for the next part, or for the end with its usage.
type recorder struct {
	terminal *Terminal
	record   query.Record
	next     int // index of the first element that is not printed
	base     int // index at which the current answer begins
	open     map[int]bool
	ended    []int // parts that are saved
}

func newRecorder(t *Terminal, r query.Record) *recorder {
	return &recorder{
		terminal: t, record: r, next: r.Stream().Len(), base: r.Stream().Len(),
		open: map[int]bool{},
	}
}

// sending begins an answer. All elements before it are final, except for a message that was cut
// off, which the answer may continue.
func (r *recorder) sending() error {
	s := r.record.Stream()
	r.base, r.ended = s.Len(), nil
	clear(r.open)
	if mayContinue(s) {
		return r.print(s.Len() - 1)
	}
	return r.print(s.Len())
}

// mayContinue reports whether the next answer may continue the last element of a stream: a message
// that was cut off.
func mayContinue(s *events.Stream) bool {
	n := s.Len()
	return n > 0 && s.At(n-1).Kind() == events.KindChatResponse
}

func (r *recorder) delta(d llm.Delta) error {
	switch d.Kind {
	case llm.DeltaStart:
		r.open[d.Index] = true
		return r.parts()
	case llm.DeltaEnd:
		delete(r.open, d.Index)
		if d.Event != nil {
			r.ended = append(r.ended, d.Index)
		}
	}
	return nil
}

// parts prints the parts before the first open one.
func (r *recorder) parts() error {
	first := slices.Min(slices.Collect(maps.Keys(r.open)))
	n := 0
	for _, part := range r.ended {
		if part < first {
			n++
		}
	}
	// A message that continues the one before is not an element of its own.
	if n == 0 || r.record.Stream().Len()-r.base != len(r.ended) {
		return nil
	}
	return r.print(r.base + n)
}

// settled prints the saved elements whose position is final.
func (r *recorder) settled() error {
	s := r.record.Stream()
	limit := s.Len()
	if limit == 0 {
		return nil
	}
	switch s.At(limit - 1).Kind() {
	case events.KindChatResponse, events.KindToolCallRequest:
		return nil // of an answer: see parts
	}
	// A result may still be inserted before one of a later call.
	for _, c := range r.unsettled(s) {
		limit = min(limit, c)
	}
	return r.print(limit)
}

// unsettled returns the results after a call without one.
func (r *recorder) unsettled(s *events.Stream) []int {
	var late []int
	pending := false
	for _, c := range s.Calls() {
		switch {
		case c.Request < r.base: // of an earlier answer
		case c.Response < 0:
			pending = true
		case pending:
			late = append(late, c.Response)
		}
	}
	return late
}

// rest prints all remaining elements.
func (r *recorder) rest() error { return r.print(r.record.Stream().Len()) }

// print prints the elements before limit that are not printed yet.
func (r *recorder) print(limit int) error {
	if limit <= r.next {
		return nil
	}
	stream := r.record.Stream()
	var b bytes.Buffer
	turns := len(stream.Turns())
	if _, err := (render.Conversation{
		Stream: stream, Contents: r.record.Contents(),
	}).Render(&b, render.Options{
		Format: render.FormatJSONLines, First: turns, Last: turns, Output: r.terminal.Output,
	}); err != nil {
		return err
	}
	for line := range bytes.Lines(b.Bytes()) {
		var at struct {
			Element int `json:"element"`
		}
		if json.Unmarshal(line, &at) != nil || at.Element < r.next || at.Element >= limit {
			continue
		}
		if _, err := r.terminal.Out.Write(line); err != nil {
			return err
		}
	}
	r.next = limit
	return nil
}
