package events

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// streamText draws the text of a valid events.json. It writes JSON by its own means, so that the
// tested code does not produce its own input. It draws what interrupted, edited and old
// conversations hold: calls without a response and responses without a call, repeated ids, streams
// without any turn_start and with two in a row, elements of unknown kinds, compactions of turns
// that do not exist, and times that repeat or go back.
func streamText() *rapid.Generator[[]byte] {
	return rapid.Custom(func(t *rapid.T) []byte {
		w := &streamWriter{t: t}
		switch rapid.IntRange(0, 3).Draw(t, "shape") {
		case 0:
			w.soup()
		case 1:
			w.turn(false)
			fallthrough
		default:
			w.globals()
			for range rapid.IntRange(0, 6).Draw(t, "turns") {
				w.turn(rapid.IntRange(0, 9).Draw(t, "start") > 0)
			}
		}
		return w.text()
	})
}

// stream draws a stream.
func stream() *rapid.Generator[*Stream] {
	return rapid.Custom(func(t *rapid.T) *Stream {
		text := streamText().Draw(t, "text")
		s, err := Decode(text)
		if err != nil {
			t.Fatalf("generated stream does not decode: %v\n%s", err, text)
		}
		return s
	})
}

// A streamWriter collects the elements of a random stream as JSON objects.
type streamWriter struct {
	t     *rapid.T
	elems []string
	clock int // tenths of a second
}

// text joins the elements in one of several realistic layouts.
func (w *streamWriter) text() []byte {
	sep, end := ",", ""
	switch rapid.IntRange(0, 3).Draw(w.t, "layout") {
	case 0:
	case 1:
		sep, end = " ,\r\n\t", " \n"
	default:
		return w.canonical()
	}
	var b bytes.Buffer
	b.WriteString("[")
	for i, e := range w.elems {
		if i > 0 {
			b.WriteString(sep)
		}
		b.WriteString(e)
	}
	b.WriteString(end + "]" + end)
	return b.Bytes()
}

func (w *streamWriter) canonical() []byte {
	var compact, b bytes.Buffer
	compact.WriteString("[")
	for i, e := range w.elems {
		if i > 0 {
			compact.WriteString(",")
		}
		compact.WriteString(e)
	}
	compact.WriteString("]")
	if err := json.Indent(&b, compact.Bytes(), "", "  "); err != nil {
		w.t.Fatalf("generated stream is no JSON: %v", err)
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// soup writes random events in random order.
func (w *streamWriter) soup() {
	for range rapid.IntRange(0, 14).Draw(w.t, "elements") {
		switch rapid.IntRange(0, 5).Draw(w.t, "what") {
		case 0:
			w.event("turn_start", "")
		case 1:
			w.event("chat_request", `,"content":"q"`)
		case 2:
			w.global()
		default:
			w.inside()
		}
	}
}

// turn writes one turn, more or less as a query leaves it.
func (w *streamWriter) turn(start bool) {
	if start {
		w.event("turn_start", "")
		if rapid.IntRange(0, 9).Draw(w.t, "double") == 0 {
			w.event("turn_start", "")
		}
	}
	if rapid.IntRange(0, 9).Draw(w.t, "asks") > 0 {
		w.event("chat_request", fmt.Sprintf(`,"content":"q%d"`, len(w.elems)))
	}
	for range rapid.IntRange(0, 4).Draw(w.t, "cycles") {
		switch rapid.IntRange(0, 4).Draw(w.t, "cycle") {
		case 0:
			w.inside()
		case 1:
			w.globals()
		case 2:
			w.event("chat_request", `,"content":"and another thing"`)
		default:
			w.batch()
		}
	}
	if rapid.IntRange(0, 4).Draw(w.t, "answers") > 0 {
		w.event("chat_response", fmt.Sprintf(`,"message":"m%d"`, len(w.elems)))
	}
	w.globals()
}

// batch writes parallel calls and their responses; the last responses may be missing.
func (w *streamWriter) batch() {
	ids := rapid.SliceOfN(w.ids(), 1, 3).Draw(w.t, "batch")
	for _, id := range ids {
		w.request(id)
	}
	for _, id := range ids[:rapid.IntRange(0, len(ids)).Draw(w.t, "answered")] {
		w.response(id)
	}
}

// inside writes one event other than a turn_start.
func (w *streamWriter) inside() {
	id := w.ids().Draw(w.t, "id")
	switch rapid.IntRange(0, 6).Draw(w.t, "event") {
	case 0:
		w.event("chat_response", `,"message":"m"`)
	case 1:
		w.event("chat_response", `,"reasoning":"r","metadata":{"signature":"`+encode("s")+`"}`)
	case 2:
		w.event("chat_response", `,"data":{"n":1.50}`)
	case 3:
		w.request(id)
	case 4:
		w.response(id)
	case 5:
		w.event("inquiry_request", `,"id":"`+id+`","source":{"source":"tool","name":"t"},`+
			`"question":{"text":"sure?","answer_type":{"type":"boolean"}}`)
	default:
		w.event("inquiry_response", `,"id":"`+id+`","answer":true`)
	}
}

func (w *streamWriter) request(id string) {
	w.event("tool_call_request", fmt.Sprintf(`,"id":%q,"name":%q,"arguments":{"path":%q}`,
		id, rapid.SampledFrom([]string{"read", "grep"}).Draw(w.t, "tool"), encode(id)))
}

func (w *streamWriter) response(id string) {
	w.event("tool_call_response", fmt.Sprintf(`,"id":%q,"content":%q,"is_error":%t`,
		id, encode(fmt.Sprint("result ", len(w.elems))),
		rapid.Bool().Draw(w.t, "error")))
}

func (w *streamWriter) globals() {
	for rapid.IntRange(0, 3).Draw(w.t, "more") == 0 {
		w.global()
	}
}

// global writes an element that is not an event.
func (w *streamWriter) global() {
	at := w.time()
	switch rapid.IntRange(0, 3).Draw(w.t, "global") {
	case 0:
		w.add(`{"type":"config_delta","timestamp":%q,"delta":{"n":%d}}`, at, len(w.elems))
	case 1:
		w.add(`{"timestamp":%q,"type":"future","n":%d}`, at, len(w.elems))
	default:
		w.add(`{"type":"compaction","timestamp":%q%s}`, at, w.policies())
	}
}

func (w *streamWriter) policies() string {
	turn := rapid.IntRange(0, 8)
	text := fmt.Sprintf(`,"from_turn":%d,"to_turn":%d`,
		turn.Draw(w.t, "from"), turn.Draw(w.t, "to"))
	if rapid.Bool().Draw(w.t, "summary") {
		text += fmt.Sprintf(`,"summary":{"summary":"S%d"}`, rapid.IntRange(0, 2).Draw(w.t, "text"))
	}
	if rapid.Bool().Draw(w.t, "reasoning") {
		text += `,"reasoning":"strip"`
	}
	switch rapid.IntRange(0, 3).Draw(w.t, "tools") {
	case 0:
		text += `,"tool_calls":{"policy":"omit"}`
	case 1:
		text += fmt.Sprintf(`,"tool_calls":{"policy":"strip","request":%t,"response":%t}`,
			rapid.Bool().Draw(w.t, "request"), rapid.Bool().Draw(w.t, "response"))
	}
	return text
}

func (w *streamWriter) event(kind, members string) {
	w.add(`{"timestamp":%q,"type":%q%s}`, w.time(), kind, members)
}

func (w *streamWriter) add(format string, args ...any) {
	w.elems = append(w.elems, fmt.Sprintf(format, args...))
}

// time usually advances the clock.
func (w *streamWriter) time() string {
	w.clock = max(0, w.clock+rapid.SampledFrom([]int{10, 10, 10, 3, 0, -5}).Draw(w.t, "tick"))
	sec, tenth := w.clock/10, w.clock%10
	return fmt.Sprintf("2026-01-01 00:%02d:%02d.%d", sec/60, sec%60, tenth)
}

// ids draws from few ids, so that they repeat.
func (w *streamWriter) ids() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"a", "b", "c"})
}

func encode(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// The generator must reach all cases that it claims to draw, or the properties prove nothing.
func TestGeneratorReaches(t *testing.T) {
	seen := map[string]bool{}
	reach := func(s *Stream) {
		turns := s.Turns()
		seen["no turns"] = seen["no turns"] || len(turns) == 0
		for _, turn := range turns {
			seen["implicit"] = seen["implicit"] || turn.Implicit && len(turns) > 1
			seen["empty turn"] = seen["empty turn"] || turn.First == turn.Last && !turn.Implicit
		}
		for _, c := range s.Calls() {
			seen["open call"] = seen["open call"] || c.Open()
			seen["closed call"] = seen["closed call"] || !c.Open()
		}
		for _, e := range s.All() {
			seen[string(e.Kind())] = true
		}
		for _, o := range s.Project().Origins {
			seen["summary"] = seen["summary"] || o.Summary
			seen["long summary"] = seen["long summary"] || o.From < o.To
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		// The rarest case is in every eleventh stream.
		for range 5 {
			reach(stream().Draw(t, "stream"))
		}
	})
	for _, want := range []string{
		"no turns", "implicit", "empty turn", "open call", "closed call", "summary",
		"long summary", "future", "compaction", "config_delta", "inquiry_request",
		"inquiry_response",
	} {
		if !seen[want] {
			t.Errorf("no stream with %s was drawn", want)
		}
	}
}
