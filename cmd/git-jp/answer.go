package main

import (
	"io"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/render"
)

// An answer shows a turn while it runs: text on standard output, what happens beside it on
// standard error.
type answer struct {
	app      *app
	talk     *talk
	out      render.Output
	stream   *render.Streamer // of the message that is being said, on a terminal
	said     bool             // something stands on standard output
	line     bool             // and it ends within a line
	failed   error            // of writing
	records  *recorder        // prints events instead; nil for people
	thoughts thoughts
	spin     *spinner
	inside   bool // a message is being said
}

var _ query.Watcher = (*answer)(nil)

func (a *app) newAnswer(k *talk) *answer {
	s := &answer{app: a, talk: k, out: a.output()}
	if a.JSON {
		s.records = newRecorder(a, k.target.record())
	}
	s.spin = &spinner{w: a.stderr, on: a.stderrTerminal && !a.Quiet}
	a.screen.spin = s.spin
	s.thoughts = a.newThoughts(k, s.spin)
	return s
}

// Sending implements [query.Watcher].
func (s *answer) Sending(*llm.Request) {
	s.app.screen.write(func() {
		if s.records != nil {
			s.fail(s.records.sending())
		}
		s.spin.start()
	})
}

// Delta implements [query.Watcher].
func (s *answer) Delta(d llm.Delta) {
	s.app.screen.write(func() { s.delta(d) })
}

func (s *answer) delta(d llm.Delta) {
	switch {
	case d.Kind == llm.DeltaStop:
		s.spin.stop()
	case s.records != nil:
		s.fail(s.records.delta(d))
	case d.Part == llm.PartReasoning:
		s.thoughts.delta(d)
	case d.Part == llm.PartText:
		s.message(d)
	}
}

func (s *answer) message(d llm.Delta) {
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
	if s.records != nil {
		s.fail(s.records.settled())
		return
	}
	switch ev := e.Event().(type) {
	case *events.ChatRequest:
		s.close()
	case *events.ToolCallRequest:
		s.close()
		s.call(ev)
	case *events.ToolCallResponse:
		s.result(ev)
		s.spin.start()
	}
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
	s.thoughts.end()
	s.close()
	if s.records != nil {
		s.fail(s.records.rest())
	}
	if s.records != nil || a.Data == nil || s.said {
		return s.failed
	}
	data := indented(a.Data)
	s.print(strings.TrimSuffix(string(data), "\n") + "\n")
	return s.failed
}
