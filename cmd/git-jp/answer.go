package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/models"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/render"
)

// An answer shows a turn while it runs: text on standard output, what happens beside it on
// standard error.
type answer struct {
	app    *app
	talk   *talk
	out    render.Output
	stream *render.Streamer // of the message that is being said, on a terminal
	said   bool             // something stands on standard output
	line   bool             // and it ends within a line
	failed error            // of writing
	next   int              // the first element that was not printed as JSON
	spin   *spinner
	inside bool // a message is being said
}

var _ query.Watcher = (*answer)(nil)

func (a *app) newAnswer(k *talk) *answer {
	s := &answer{app: a, talk: k, out: a.output(), next: k.target.stream().Len()}
	s.spin = &spinner{w: a.stderr, on: a.stderrTerminal && !a.Quiet}
	a.screen.spin = s.spin
	return s
}

// Sending implements [query.Watcher].
func (s *answer) Sending(*llm.Request) {
	s.app.screen.write(s.spin.start)
}

// Delta implements [query.Watcher].
func (s *answer) Delta(d llm.Delta) {
	s.app.screen.write(func() { s.delta(d) })
}

func (s *answer) delta(d llm.Delta) {
	if d.Kind == llm.DeltaStop {
		s.spin.stop()
	}
	if s.app.JSON || d.Part != llm.PartText {
		return
	}
	switch d.Kind {
	case llm.DeltaStart:
		s.inside = true
	case llm.DeltaFragment:
		s.write(d.Text)
	case llm.DeltaEnd:
		s.close()
	}
}

// write says some of a message.
func (s *answer) write(text string) {
	if text == "" {
		return
	}
	if s.inside && s.said && !s.line && s.stream == nil {
		s.print("\n") // between two messages
	}
	s.inside = false
	if !s.out.Terminal {
		s.print(text)
		return
	}
	if s.stream == nil {
		s.stream = render.NewStreamer(s, s.out)
	}
	_, err := s.stream.WriteString(text)
	s.fail(err)
	s.said, s.line = true, false
}

// Write implements [io.Writer] for what is shown of the answer. What moves on the screen makes
// room for it and goes on below: a block is shown when it is whole, and until then something
// has to say that more is coming.
func (s *answer) Write(p []byte) (int, error) {
	if s.out.Terminal && s.spin.stop() {
		defer s.spin.start()
	}
	return s.app.stdout.Write(p)
}

func (s *answer) print(text string) {
	_, err := io.WriteString(s, s.out.Text(text))
	s.fail(err)
	s.said, s.line = true, !strings.HasSuffix(text, "\n")
}

func (s *answer) fail(err error) {
	if s.failed == nil {
		s.failed = err
	}
}

// close ends a message.
func (s *answer) close() {
	if s.stream != nil {
		s.fail(s.stream.Close())
		s.stream = nil
	}
	if s.line {
		s.print("\n")
	}
}

// Saved implements [query.Watcher].
func (s *answer) Saved(e *events.Element) {
	s.app.screen.write(func() { s.saved(e) })
}

func (s *answer) saved(e *events.Element) {
	s.spin.stop()
	if s.app.JSON {
		s.record(false)
		return
	}
	switch ev := e.Event().(type) {
	case *events.ChatRequest:
		s.close()
	case *events.ToolCallRequest:
		s.close()
		if s.talk.approve.asks(ev.Name) {
			break
		}
		s.app.note("%s", clipped(fmt.Sprintf("calling %s %s", ev.Name, ev.Arguments)))
	case *events.ToolCallResponse:
		if ev.IsError {
			s.app.note("%s", clipped("failed: "+s.text(ev)))
		}
		s.spin.start()
	}
}

func (s *answer) text(r *events.ToolCallResponse) string {
	text, err := r.Text(s.talk.target.record().Contents())
	if err != nil {
		return err.Error()
	}
	return text
}

// clipped is a text as one line of bounded length.
func clipped(text string) string {
	const limit = 160
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return string(runes)
}

// record prints the events that are settled, as `print --json` does. Those of an answer, or
// of a batch of results, are settled together: their order and what they cost follow later.
func (s *answer) record(all bool) {
	record := s.talk.target.record()
	stream := record.Stream()
	limit := stream.Len()
	for open := group(stream, limit-1); !all && open > 0 && group(stream, limit-1) == open; {
		limit--
	}
	if limit <= s.next {
		return
	}
	var b bytes.Buffer
	turns := len(stream.Turns())
	_, err := render.Conversation{
		Stream: stream, Contents: record.Contents(),
	}.Render(&b, render.Options{
		Format: render.FormatJSONLines, First: turns, Last: turns, Output: s.out,
	})
	s.fail(err)
	for line := range bytes.Lines(b.Bytes()) {
		var at struct {
			Element int `json:"element"`
		}
		if json.Unmarshal(line, &at) == nil && s.next <= at.Element && at.Element < limit {
			_, err := s.app.stdout.Write(line)
			s.fail(err)
		}
	}
	s.next = limit
}

// group tells parts of an answer and results apart from what stands alone, which is 0.
func group(s *events.Stream, i int) int {
	if i < 0 {
		return 0
	}
	switch s.At(i).Kind() {
	case events.KindChatResponse, events.KindToolCallRequest:
		return 1
	case events.KindToolCallResponse:
		return 2
	default:
		return 0
	}
}

// Notice implements [query.Watcher].
func (s *answer) Notice(text string) {
	s.app.screen.write(func() {
		s.spin.stop()
		s.close()
		s.app.note("%s", text)
	})
}

// end completes the output.
func (s *answer) end(a query.Answer) error {
	s.spin.stop()
	s.close()
	if s.app.JSON {
		s.record(true)
	}
	if s.app.JSON || a.Data == nil || s.said {
		return s.failed
	}
	data := indented(a.Data)
	s.print(strings.TrimSuffix(string(data), "\n") + "\n")
	return s.failed
}

// usage tells what the turn has cost.
func (k *talk) usage(a query.Answer, took time.Duration) {
	if a.Saved > 0 {
		k.app.note("%s not sent again", render.Bytes(a.Saved))
	}
	u := a.Usage
	if u.Prompt() == 0 && u.Output == 0 {
		return
	}
	parts := []string{render.Number(u.Prompt()) + " tokens in"}
	if u.CacheRead > 0 {
		parts[0] += " (" + render.Number(u.CacheRead) + " cached)"
	}
	parts = append(parts, render.Number(u.Output)+" out")
	if table, err := models.Builtin(); err == nil {
		if row, ok := table.Find(k.model.ID()); ok {
			if usd, ok := row.Cost(u, k.setup.Cache.TTL >= time.Hour); ok {
				parts = append(parts, fmt.Sprintf("$%.4f (prices of %s)", usd, row.AsOf))
			}
		}
	}
	k.app.note("%s: %s, %s", k.model.ID(), strings.Join(parts, ", "), seconds(took))
}
