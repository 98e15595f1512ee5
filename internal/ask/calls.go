package ask

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/tool"
)

// Calls configures how the calls of a turn are shown.
type Calls struct {
	Hidden     bool
	Styles     map[string]tool.Style     // by tool
	Formatters map[string]tool.Formatter // those that run without approval, by tool
	Gate       *ToolGate                 // shows the calls that need approval; may be nil
}

// formatterWait limits the time of a formatter for a call that needs no approval.
const formatterWait = 10 * time.Second

// call shows a call in the configured style of its tool. A call that needs approval is shown with
// the question.
func (s *Answer) call(ev *events.ToolCallRequest) {
	style := s.calls.Styles[ev.Name]
	if style.Hidden || s.calls.Hidden || s.calls.Gate.Asks(ev.Name) {
		return
	}
	switch style.Parameters {
	case "off":
		s.terminal.Note("calling %s", ev.Name)
	case "function_call":
		s.terminal.Note("%s", render.Clip("calling "+functionCall(ev)))
	default:
		if text, ok := s.formatted(ev); ok {
			s.passage("calling " + text)
			return
		}
		s.terminal.Note("%s", render.Clip(fmt.Sprintf("calling %s %s", ev.Name, ev.Arguments)))
	}
}

// formatted returns the output of the tool's formatter for a call that needs no approval.
func (s *Answer) formatted(ev *events.ToolCallRequest) (string, bool) {
	if s.terminal.Quiet {
		return "", false
	}
	f, ok := s.calls.Formatters[ev.Name]
	if !ok {
		return "", false
	}
	ctx, cancel := context.WithTimeout(s.ctx, formatterWait)
	defer cancel()
	r := tool.Request{
		Call:      tool.Call{ID: ev.ID, Name: ev.Name, Arguments: ev.Arguments},
		Formatter: f,
	}
	return formatted(ctx, r), true
}

// functionCall returns a call in the notation of programming languages.
func functionCall(ev *events.ToolCallRequest) string {
	members, err := tool.Members(ev.Arguments)
	if err != nil {
		return fmt.Sprintf("%s(%s)", ev.Name, ev.Arguments)
	}
	args := lists.Map(members, func(m tool.Member) string {
		return fmt.Sprintf("%s: %s", m.Name, m.Value)
	})
	return fmt.Sprintf("%s(%s)", ev.Name, strings.Join(args, ", "))
}

// result shows the error of a failed call or, if configured, the first lines of its result.
func (s *Answer) result(ev *events.ToolCallResponse) {
	name := s.toolOf(ev.ID)
	style := s.calls.Styles[name]
	if style.Hidden || s.calls.Hidden {
		return
	}
	text := s.text(ev)
	if ev.IsError {
		s.terminal.Note("%s", render.Clip(name+" failed: "+text))
		return
	}
	switch lines, err := strconv.Atoi(style.InlineResults); {
	case style.InlineResults == "full":
		s.passage(strings.TrimRight(text, "\n"))
	case err == nil && lines > 0:
		s.passage(firstLines(text, lines))
	}
}

// passage prints what a tool's program wrote, in its own lines, which a note would indent.
func (s *Answer) passage(text string) {
	if !s.terminal.Quiet {
		fmt.Fprintln(s.terminal.Err, render.Sanitize(text))
	}
}

// firstLines returns the first lines of a text, and the number of further lines.
func firstLines(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) <= n {
		return strings.Join(lines, "\n")
	}
	return fmt.Sprintf("%s\n… %d more lines", strings.Join(lines[:n], "\n"), len(lines)-n)
}

// toolOf returns the name of the tool of a call.
func (s *Answer) toolOf(id string) string {
	stream := s.record.Stream()
	for i := stream.Len() - 1; i >= 0; i-- {
		if r, ok := stream.At(i).Event().(*events.ToolCallRequest); ok && r.ID == id {
			return r.Name
		}
	}
	return ""
}

func (s *Answer) text(r *events.ToolCallResponse) string {
	text, err := r.Text(s.record.Contents())
	if err != nil {
		return err.Error()
	}
	return text
}

// Slow reports a call that takes long, if the user can see that and end the call.
func (t *Terminal) Slow(c tool.Call, elapsed time.Duration) {
	if t.Watched() {
		t.NoteBetween("%s has been running for %s; Ctrl-C stops it, or goes on", c.Name, elapsed)
	}
}
