package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/tool"
)

// call shows a call in the style of the tool's configuration. One that is asked about is shown
// with the question.
func (s *answer) call(ev *events.ToolCallRequest) {
	style := s.talk.styles[ev.Name]
	if style.Hidden || s.talk.hideCalls || s.talk.approve.asks(ev.Name) {
		return
	}
	switch style.Parameters {
	case "off":
		s.app.note("calling %s", ev.Name)
	case "function_call":
		s.app.note("%s", clipped("calling "+functionCall(ev)))
	default:
		if text, ok := s.formatted(ev); ok {
			s.app.note("calling %s", text)
			return
		}
		s.app.note("%s", clipped(fmt.Sprintf("calling %s %s", ev.Name, ev.Arguments)))
	}
}

// formatted is what the tool's own formatter makes of a call that nobody is asked about.
func (s *answer) formatted(ev *events.ToolCallRequest) (string, bool) {
	if s.app.Quiet {
		return "", false
	}
	f, ok := s.talk.formatters[ev.Name]
	if !ok {
		return "", false
	}
	ctx, cancel := context.WithTimeout(s.talk.ctx, formatterWait)
	defer cancel()
	r := tool.Request{
		Call:      tool.Call{ID: ev.ID, Name: ev.Name, Arguments: ev.Arguments},
		Formatter: f,
	}
	return formatted(ctx, r), true
}

// functionCall is a call as programs write it.
func functionCall(ev *events.ToolCallRequest) string {
	members, err := tool.Members(ev.Arguments)
	if err != nil {
		return fmt.Sprintf("%s(%s)", ev.Name, ev.Arguments)
	}
	args := make([]string, len(members))
	for i, m := range members {
		args[i] = fmt.Sprintf("%s: %s", m.Name, m.Value)
	}
	return fmt.Sprintf("%s(%s)", ev.Name, strings.Join(args, ", "))
}

// result shows a result: why it failed, and, where the configuration wants it, its first lines.
func (s *answer) result(ev *events.ToolCallResponse) {
	name := s.toolOf(ev.ID)
	style := s.talk.styles[name]
	if style.Hidden || s.talk.hideCalls {
		return
	}
	text := s.text(ev)
	if ev.IsError {
		s.app.note("%s", clipped("failed: "+text))
		return
	}
	switch lines, err := strconv.Atoi(style.InlineResults); {
	case style.InlineResults == "full":
		s.app.note("%s", strings.TrimRight(text, "\n"))
	case err == nil && lines > 0:
		s.app.note("%s", firstLines(text, lines))
	}
}

// firstLines is the head of a text, and how much more there is.
func firstLines(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) <= n {
		return strings.Join(lines, "\n")
	}
	return fmt.Sprintf("%s\n… %d more lines", strings.Join(lines[:n], "\n"), len(lines)-n)
}

// toolOf is the name of the tool that a call was for.
func (s *answer) toolOf(id string) string {
	stream := s.talk.target.record().Stream()
	for i := stream.Len() - 1; i >= 0; i-- {
		if r, ok := stream.At(i).Event().(*events.ToolCallRequest); ok && r.ID == id {
			return r.Name
		}
	}
	return ""
}

func (s *answer) text(r *events.ToolCallResponse) string {
	text, err := r.Text(s.talk.target.record().Contents())
	if err != nil {
		return err.Error()
	}
	return text
}

// present notes how the tools that are offered are shown.
func (k *talk) present(items []tool.Item) {
	k.styles, k.formatters = map[string]tool.Style{}, map[string]tool.Formatter{}
	for _, c := range k.selected {
		k.styles[c.config.Name] = c.config.Style
	}
	for _, it := range items {
		f, ok := it.Tool.(tool.Formatter)
		if ok && it.Policy.Format == tool.Unattended {
			k.formatters[it.Tool.Definition().Name] = f
		}
	}
}

// stringOr reads a setting that is text or a number.
func (k *talk) stringOr(fallback string, path ...string) string {
	var raw json.RawMessage
	if !k.config.Decode(&raw, path...) {
		return fallback
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}
