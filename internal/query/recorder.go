package query

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/go-json-experiment/json/jsontext"
)

// A recorder receives one answer and saves each of its events as soon as it ends.
type recorder struct {
	*session
	request   compact.Sent
	continued *continued // the message that the first one continues
	open      map[int]*strings.Builder
	saved     run
	said      []*events.ChatResponse
	calls     []*events.ToolCallRequest
	order     []int         // the index of each call's part in the answer
	usage     compact.Usage // of the first request of the answer, with those that followed
	stop      llm.Stop
	before    *partial // the message from before it was continued
	unsaved   bool     // the error comes from a save
	answered  bool     // there is something for the user to read
}

// listen receives the answer to its end. If the stream ends early, the text of unfinished messages
// is kept, and the usage that is known: what was interrupted is charged too.
func (h *recorder) listen(ctx context.Context, r *llm.Request) error {
	h.open = map[int]*strings.Builder{}
	var cancelled error
	for d, err := range h.Model.Stream(ctx, r) {
		if err == nil && ctx.Err() != nil && d.Kind != llm.DeltaUsage {
			cancelled = ctx.Err() // whoever cancelled does not want what came since
			continue
		}
		if err == nil {
			err = h.take(d)
			h.unsaved = err != nil
		}
		if err != nil {
			if h.unsaved {
				return err
			}
			return h.breakOff(err)
		}
	}
	if cancelled != nil {
		return h.breakOff(cancelled)
	}
	return h.account()
}

func (h *recorder) take(d llm.Delta) error {
	h.watch.Delta(d)
	switch d.Kind {
	case llm.DeltaStart:
		if d.Part == llm.PartText {
			h.open[d.Index] = &strings.Builder{}
		}
	case llm.DeltaFragment:
		if b := h.open[d.Index]; b != nil {
			b.WriteString(d.Text)
		}
	case llm.DeltaEnd:
		delete(h.open, d.Index)
		if d.Event != nil {
			return h.save(d.Index, d.Event, d.Metadata)
		}
	case llm.DeltaUsage:
		h.spend(d.Usage)
	case llm.DeltaStop:
		h.stop = d.Stop
	}
	return nil
}

// spend adds the usage of a request of the answer: the first one's prompt is what was measured.
func (h *recorder) spend(u llm.Usage) {
	h.spent(u)
	if h.usage == (compact.Usage{}) {
		h.usage = recorded(u)
		return
	}
	h.usage = h.usage.After(recorded(u))
}

// save saves an event of the answer.
func (h *recorder) save(index int, ev events.Event, md events.Metadata) error {
	switch ev := ev.(type) {
	case *events.ChatResponse:
		_, extra := md.Value(events.MetadataExtra)
		h.answered = h.answered || extra ||
			ev.Form != events.FormReasoning && strings.TrimSpace(ev.Text)+string(ev.Data) != ""
		if h.continued != nil && ev.Form == events.FormMessage {
			return h.extend(index, ev, md)
		}
		h.said = append(h.said, ev)
	case *events.ToolCallRequest:
		h.call(index, &events.ToolCallRequest{
			ID: ev.ID, Name: ev.Name, Arguments: llm.Arguments(ev, md),
		})
	}
	e := events.NewElement(h.Now(), ev, md)
	err := h.Record.Save(func(s *events.Stream) error {
		h.saved.insert(s, index, e)
		return nil
	})
	if err != nil {
		return lost(ev, err)
	}
	h.saved.add(index, e)
	h.watch.Saved(e)
	return nil
}

// An UnsavedError says that a part of an answer could not be saved, as on a full disk.
type UnsavedError struct {
	Text string // of a message; "" for other parts
	Err  error
}

// Error implements error.
func (e *UnsavedError) Error() string { return "save the answer: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *UnsavedError) Unwrap() error { return e.Err }

func lost(part events.Event, err error) error {
	e := &UnsavedError{Err: err}
	if said, ok := part.(*events.ChatResponse); ok && said.Form != events.FormReasoning {
		e.Text = said.Text + string(said.Data)
	}
	return e
}

// call adds a call in the order of the parts, which is not always the order in which they end.
func (h *recorder) call(index int, ev *events.ToolCallRequest) {
	at := len(h.calls)
	for at > 0 && h.order[at-1] > index {
		at--
	}
	h.order = slices.Insert(h.order, at, index)
	h.calls = slices.Insert(h.calls, at, ev)
}

// breakOff saves the text of messages that did not end. Incomplete reasoning and calls are
// discarded: they cannot be sent again.
func (h *recorder) breakOff(cause error) error {
	for _, i := range slices.Sorted(maps.Keys(h.open)) {
		text := h.open[i].String()
		if strings.TrimSpace(text) == "" {
			continue
		}
		md := events.Metadata{}.With(MetadataInterrupted, jsontext.Value("true"))
		if err := h.save(i, &events.ChatResponse{Text: text}, md); err != nil {
			h.unsaved = true
			return err
		}
	}
	if err := h.account(); err != nil {
		h.unsaved = true
		return err
	}
	return cause
}

// account stores the usage and the description of the request with the last event of the answer. Of
// an answer without events, it stores the usage.
func (h *recorder) account() error {
	last, ok := h.saved.last()
	if h.usage == (compact.Usage{}) && (h.Trim == nil || !ok) {
		return nil
	}
	err := h.Record.Save(func(s *events.Stream) error {
		if !ok {
			h.outlast(s)
		} else if at := find(s, last); at >= 0 {
			s.Set(at, h.charged(s.At(at)))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("save the usage: %w", err)
	}
	return nil
}

// fault returns the error of a failed save, which an interrupt must not hide.
func (h *recorder) fault(err error) error {
	if h.unsaved {
		return err
	}
	return nil
}

// text returns the last message of the answer.
func (h *recorder) text() string {
	for _, r := range slices.Backward(h.said) {
		if r.Form == events.FormMessage {
			return r.Text
		}
	}
	return ""
}

// A continued is an incomplete message that the next answer continues.
type continued struct {
	sum  blobs.Hash
	text string
}

// end returns the message at the end of the answer, nil if the answer ends with another event.
func (h *recorder) end() *continued {
	if len(h.said) == 0 {
		return nil
	}
	last := h.said[len(h.said)-1]
	sum, ok := h.saved.last()
	if !ok || last.Form != events.FormMessage {
		return nil
	}
	return &continued{sum: sum, text: last.Text}
}

// takeBack removes the answer from the stream, except the part that the refusal does not concern,
// and returns the message that stays, "" for none.
func (h *recorder) takeBack(s *events.Stream) (kept string) {
	charged := len(h.saved.sums) == 0 // then the usage is stored already
	for i, sum := range h.saved.sums {
		at, key := find(s, sum), h.saved.keys[i]
		switch {
		case at < 0:
		case h.before != nil && sum == h.before.whole:
			s.Set(at, h.before.element)
			kept = messageOf(h.before.element)
		case h.stop.Kept.Bytes == 0 || key > h.stop.Kept.Part:
			s.Remove(at, 1)
		case key == h.stop.Kept.Part:
			kept = messageOf(s.At(at))
			kept = kept[:min(len(kept), h.stop.Kept.Bytes)]
			s.Set(at, h.charged(s.At(at).With(&events.ChatResponse{Text: kept})))
			charged = true
		}
	}
	if !charged {
		h.outlast(s)
	}
	return kept
}

// outlast stores the usage of an answer that left no event: it was charged. It becomes earlier
// usage of the event at the end, which was answered or continued.
func (h *recorder) outlast(s *events.Stream) {
	for at := s.Len() - 1; at >= 0 && h.usage != (compact.Usage{}); at-- {
		if e := s.At(at); e.Kind().IsEvent() {
			u, _ := compact.UsageOf(e)
			s.Set(at, e.WithMetadata(compact.WithUsage(e.Metadata(), u.After(h.usage))))
			return
		}
	}
}

func messageOf(e *events.Element) string {
	r, _ := e.Event().(*events.ChatResponse)
	if r == nil {
		return ""
	}
	return r.Text
}

// charged adds the usage of the answer and the description of the request to an element. A message
// that was continued keeps the usage of the answers before.
func (h *recorder) charged(e *events.Element) *events.Element {
	md, used := e.Metadata(), h.usage
	if h.before != nil && e.Sum() == h.before.whole {
		if u, ok := compact.UsageOf(h.before.element); ok {
			used = used.After(u)
		}
	}
	if used != (compact.Usage{}) {
		md = compact.WithUsage(md, used)
	}
	if h.Trim != nil {
		md = compact.WithSent(md, h.request)
	}
	return e.WithMetadata(md)
}

// recorded returns the stored form of usage.
func recorded(u llm.Usage) compact.Usage {
	return compact.Usage{
		Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite,
		Reasoning: u.Reasoning, Model: u.Model,
	}
}

// A partial is a message from before it was continued.
type partial struct {
	element *events.Element
	whole   blobs.Hash // sum of the continued message
}

// extend merges a message into the one that it continues, and saves it.
func (h *recorder) extend(index int, ev *events.ChatResponse, md events.Metadata) error {
	j := h.continued
	h.continued = nil
	whole := &events.ChatResponse{Text: join(j.text, ev.Text)}
	var e *events.Element
	err := h.Record.Save(func(s *events.Stream) error {
		at := find(s, j.sum)
		if at < 0 {
			e = events.NewElement(h.Now(), ev, md)
			s.Append(e)
			return nil
		}
		first := s.At(at)
		e = first.With(whole)
		if _, partial := md.Value(MetadataInterrupted); !partial {
			e = e.WithMetadata(e.Metadata().Without(MetadataInterrupted))
		}
		s.Set(at, e)
		h.before = &partial{element: first, whole: e.Sum()}
		return nil
	})
	if err != nil {
		return lost(whole, err)
	}
	h.said = append(h.said, whole)
	h.saved.add(index, e)
	h.watch.Saved(e)
	return nil
}

// The limits, in bytes, of the overlap between a message and its continuation: models repeat some
// of what they said.
const minOverlap, maxOverlap = 5, 500

// join returns a followed by b, without the beginning of b that repeats the end of a.
func join(a, b string) string {
	for n := min(len(a), len(b), maxOverlap); n >= minOverlap; n-- {
		if a[len(a)-n:] == b[:n] {
			return a + b[n:]
		}
	}
	return a + b
}
