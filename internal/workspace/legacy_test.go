package workspace

import (
	"errors"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
)

const messages = `[
 {"timestamp": "2025-05-03T10:00:00Z", "message": "hi", "context": {"x": 1},
  "reply": {"reasoning": "hm", "content": "hello", "tool_calls": [{"id": "a", "name": "ls",
    "arguments": {"path": "docs", "n": 12345678901234567890}}]}},
 {"timestamp": "2025-05-03 10:00:01.5", "message": [{"id": "a", "content": "docs", "error": true}],
  "reply": {"content": "done", "provider": "x"}},
 {"timestamp": "2025-10-21 10:00:01", "message": [
    {"id": "b", "content": "Pz8_Pw==", "error": false}],
  "reply": {"tool_calls": [
    {"id": "c", "name": "ls", "arguments": {"path": "Lg==", "l": ["eA=="]}}]}}
]`

func TestMessagesAreRead(t *testing.T) {
	w := newWorld(t)
	w.write(dir1+"/metadata.json", metadata("old"))
	w.write(dir1+"/messages.json", messages)
	ws := w.open()
	entries, problems, err := ws.List(ListOptions{})
	if err != nil || len(problems) != 0 || len(entries) != 1 || !entries[0].Legacy {
		t.Fatalf("%v, %v, %v", entries, problems, err)
	}
	c, err := ws.Load(entries[0])
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, e := range c.Stream.All() {
		kinds = append(kinds, string(e.Kind()))
	}
	const want = "turn_start chat_request chat_response chat_response tool_call_request " +
		"tool_call_response chat_response tool_call_response tool_call_request"
	if got := strings.Join(kinds, " "); got != want {
		t.Fatalf("elements are %s", got)
	}
	text := func(i int) string {
		s, err := c.Stream.At(i).Event().(*events.ToolCallResponse).Text(nil)
		if err != nil {
			t.Error(err)
		}
		return s
	}
	if text(5) != "docs" || text(7) != "????" {
		t.Errorf("results are %q and %q", text(5), text(7))
	}
	args := func(i int) string {
		return string(c.Stream.At(i).Event().(*events.ToolCallRequest).Arguments)
	}
	if !strings.Contains(args(4), "12345678901234567890") || args(8) != `{"l":["x"],"path":"."}` {
		t.Errorf("arguments are %s and %s", args(4), args(8))
	}
}

func TestMessagesAreNeverWritten(t *testing.T) {
	w := newWorld(t)
	w.write(dir1+"/metadata.json", metadata("old"))
	w.write(dir1+"/messages.json", messages)
	ws := w.open()
	before := w.snapshot("proj/.jp")
	for name, err := range map[string]error{
		"update":  ws.Update(t.Context(), id1, func(*Conversation) error { return nil }),
		"rename":  ws.Rename(t.Context(), id1, "new"),
		"archive": apart(ws.Archive(t.Context(), id1)),
	} {
		if !errors.Is(err, ErrLegacy) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.unchanged(before, "proj/.jp")
}

func TestDamagedMessages(t *testing.T) {
	for _, text := range []string{
		"{", `[{"timestamp": "x"}]`, `[{"timestamp": "2025-05-03T10:00:00Z", "message": 3}]`,
	} {
		if _, err := decodeMessages([]byte(text)); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}
