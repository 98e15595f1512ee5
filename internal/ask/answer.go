package ask

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/render"
)

// A Manner configures how a turn is shown.
type Manner struct {
	Record    query.Record
	Calls     Calls
	Reasoning string // style.reasoning.display; [ReasoningHidden] hides it
}

// An Answer shows a turn while it runs: the text on standard output, everything else on standard
// error.
type Answer struct {
	terminal  *Terminal
	ctx       context.Context // of the query
	record    query.Record
	calls     Calls
	stream    *render.Streamer // formats the current message on a terminal
	said      bool             // standard output has text
	line      bool             // and it ends within a line
	failed    error            // first error of a write
	unread    func()           // the reader of standard output has gone; may be nil
	records   *recorder        // prints events as JSON instead; nil for text
	reasoning reasoning
	spin      *spinner
	inside    bool // a message has begun
	continues bool // the next message may continue the one before
	paused    bool // the spinner pauses until the line ends
}

var _ query.Watcher = (*Answer)(nil)

// NewAnswer returns an answer that shows a turn. It owns the terminal's spinner until [Answer.End].
func (t *Terminal) NewAnswer(ctx context.Context, m Manner) *Answer {
	s := &Answer{terminal: t, ctx: ctx, record: m.Record, calls: m.Calls}
	if t.JSON {
		s.records = newRecorder(t, m.Record)
	}
	s.spin = &spinner{w: t.Err, on: t.Watched()}
	t.screen.spin = s.spin
	s.reasoning = t.newReasoning(m.Reasoning, s.spin)
	return s
}

// Sending implements [query.Watcher].
func (s *Answer) Sending(*llm.Request) {
	s.terminal.screen.write(func() {
		s.continues = s.record != nil && mayContinue(s.record.Stream())
		if s.records != nil {
			s.fail(s.records.sending())
		}
		s.spin.start()
	})
}

// Delta implements [query.Watcher].
func (s *Answer) Delta(d llm.Delta) {
	s.terminal.screen.write(func() { s.delta(d) })
}

func (s *Answer) delta(d llm.Delta) {
	switch {
	case d.Kind == llm.DeltaStop:
		s.stop()
	case s.records != nil:
		s.fail(s.records.delta(d))
	case d.Part == llm.PartReasoning:
		s.reasoning.delta(d)
	case d.Part == llm.PartText:
		s.message(d)
	}
}

func (s *Answer) message(d llm.Delta) {
	switch d.Kind {
	case llm.DeltaStart:
		s.inside = true
	case llm.DeltaFragment:
		s.write(d.Text)
	case llm.DeltaEnd:
		if s.stream != nil {
			s.close()
		} // else the next answer may continue the line
	}
}

// write shows text of a message.
func (s *Answer) write(text string) {
	if text == "" {
		return
	}
	if s.inside && s.said && s.stream == nil && !s.continues {
		s.close()
		s.print("\n") // between two messages
	}
	s.inside, s.continues = false, false
	if !s.terminal.Output.Terminal {
		s.print(text)
		return
	}
	if s.stream == nil {
		s.stream = render.NewStreamer(s, s.terminal.Output)
	}
	_, err := s.stream.WriteString(text)
	s.fail(err)
	s.said, s.line = true, false
}

// Write implements [io.Writer] for the text of the answer. The spinner is erased first, and
// restarts when the line has ended.
func (s *Answer) Write(p []byte) (int, error) {
	if s.terminal.Output.Terminal && s.spin.stop() {
		s.paused = true
	}
	n, err := s.terminal.Out.Write(p)
	s.terminal.screen.within = s.terminal.Output.Terminal && !bytes.HasSuffix(p, []byte("\n"))
	if s.paused && !s.terminal.screen.within {
		s.paused = false
		s.spin.start()
	}
	return n, err
}

func (s *Answer) print(text string) {
	_, err := io.WriteString(s, s.terminal.Output.Text(text))
	s.fail(err)
	s.said, s.line = true, !strings.HasSuffix(text, "\n")
}

func (s *Answer) fail(err error) {
	if s.failed != nil || err == nil {
		return
	}
	s.failed = err
	if s.unread != nil && s.Unread() {
		s.unread()
	}
}

// Unread reports whether the reader of standard output went away, as one does who leaves a pager.
func (s *Answer) Unread() bool { return errors.Is(s.failed, syscall.EPIPE) }

// WhenUnread calls f when the reader of standard output goes away. Until release is called, a write
// to a pipe that no one reads fails, and does not end the process: what was shown of the answer
// would not be saved. Programs that are started meanwhile get the default action of SIGPIPE.
func (s *Answer) WhenUnread(f func()) (release func()) {
	ignored := make(chan os.Signal, 1)
	signal.Notify(ignored, syscall.SIGPIPE)
	s.unread = f
	return func() { signal.Stop(ignored) }
}

// stop stops the spinner until the next event.
func (s *Answer) stop() {
	s.spin.stop()
	s.paused = false
}

// close ends a message.
func (s *Answer) close() {
	if s.stream != nil {
		s.fail(s.stream.Close())
		s.stream = nil
	}
	if s.line {
		s.print("\n")
	}
}

// Saved implements [query.Watcher].
func (s *Answer) Saved(e *events.Element) {
	s.terminal.screen.write(func() { s.saved(e) })
}

func (s *Answer) saved(e *events.Element) {
	s.stop()
	if s.records != nil {
		s.fail(s.records.settled())
		return
	}
	beside := render.Beside(e.Metadata())
	if len(beside) > 0 {
		s.close()
	}
	for _, line := range beside {
		s.terminal.Note("%s", line)
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

// Notice implements [query.Watcher].
func (s *Answer) Notice(text string) {
	s.terminal.screen.write(func() {
		s.stop()
		s.close()
		s.terminal.Note("%s", text)
	})
}

// End completes the output.
func (s *Answer) End(a query.Answer) error {
	s.stop()
	s.reasoning.end()
	s.close()
	if s.records != nil {
		s.fail(s.records.rest())
	}
	if s.records != nil || a.Data == nil || s.said {
		return s.failed
	}
	s.print(pretty(a.Data) + "\n")
	return s.failed
}
