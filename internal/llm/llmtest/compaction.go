package llmtest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/wire"
)

// compactions returns the overlays of the recorded cases, by the names of their files.
func compactions() map[string]string {
	const tools = `{"type":"compaction","timestamp":"2020-01-01 00:00:01.0","from_turn":0,` +
		`"to_turn":2,"tool_calls":{"policy":"strip","request":%v,"response":%v}}`
	const summary = `{"type":"compaction","timestamp":"2020-01-01 00:00:0%d.0","from_turn":%d,` +
		`"to_turn":%d,"summary":{"summary":%q}}`
	return map[string]string{
		"baseline": "",
		"reasoning_strip": `{"type":"compaction","timestamp":"2020-01-01 00:00:01.0",` +
			`"from_turn":0,"to_turn":2,"reasoning":"strip"}`,
		"summary": fmt.Sprintf(summary, 1, 0, 2,
			"Earlier: the user asked about France's capital and had their notes read."),
		"summary_overlap": fmt.Sprintf(summary, 1, 0, 1,
			"Summary A: France's capital and the start of the notes lookup.") + "," +
			fmt.Sprintf(summary, 2, 1, 2, "Summary B: the notes lookup and Germany's capital."),
		"tool_strip_request":  fmt.Sprintf(tools, true, false),
		"tool_strip_response": fmt.Sprintf(tools, false, true),
		"tool_strip_both":     fmt.Sprintf(tools, true, true),
		"tool_omit": `{"type":"compaction","timestamp":"2020-01-01 00:00:01.0",` +
			`"from_turn":0,"to_turn":2,"tool_calls":{"policy":"omit"}}`,
	}
}

// compacted returns the conversation of the recorded cases: four turns, with unsigned reasoning,
// and a call with its result.
func compacted() string {
	elements := []string{
		`"turn_start"`,
		`"chat_request","content":"What is the capital of France?"`,
		`"chat_response","reasoning":"The user wants a capital city."`,
		`"chat_response","message":"Paris."`,
		`"turn_start"`,
		`"chat_request","content":"Read my notes file."`,
		`"tool_call_request","id":"call_1","name":"read_file",` +
			`"arguments":{"path":"bm90ZXMubWQ="}`,
		`"tool_call_response","id":"call_1",` +
			`"content":"LSBidXkgbWlsawotIGNhbGwgZGVudGlzdA==","is_error":false`,
		`"chat_response","message":"Your notes mention milk and the dentist."`,
		`"turn_start"`,
		`"chat_request","content":"And the capital of Germany?"`,
		`"chat_response","message":"Berlin."`,
		`"turn_start"`,
		`"chat_request","content":"And of Italy?"`,
	}
	for i, e := range elements {
		elements[i] = `{"timestamp":"2020-01-01 00:00:00.0","type":` + e + `}`
	}
	return "[" + strings.Join(elements, ",")
}

// Compactions returns the projected conversations of the recorded compaction cases, by the names of
// the recorded bodies.
func Compactions(t testing.TB) map[string][]llm.Message {
	t.Helper()
	cases := map[string][]llm.Message{}
	for name, overlay := range compactions() {
		text := compacted()
		if overlay != "" {
			text += "," + overlay
		}
		s, err := events.Decode([]byte(text + "]"))
		if err != nil {
			t.Fatal(err)
		}
		cases[name] = Messages(t, s.Project().Stream)
	}
	return cases
}

// Messages converts a stream to messages in the simplest way, for tests: without deduplication or
// attachments.
func Messages(t testing.TB, s *events.Stream) []llm.Message {
	t.Helper()
	var out []llm.Message
	names := map[string]string{}
	add := func(role llm.Role, p llm.Part) {
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Parts = append(out[n-1].Parts, p)
			return
		}
		out = append(out, llm.Message{Role: role, Parts: []llm.Part{p}})
	}
	for _, e := range s.All() {
		switch ev := e.Event().(type) {
		case *events.ChatRequest:
			add(llm.RoleUser, llm.Text{Text: ev.Content})
		case *events.ChatResponse:
			add(llm.RoleAssistant, Replayed(llm.Delta{Event: ev, Metadata: e.Metadata()}))
		case *events.ToolCallRequest:
			names[ev.ID] = ev.Name
			add(llm.RoleAssistant, Replayed(llm.Delta{Event: ev, Metadata: e.Metadata()}))
		case *events.ToolCallResponse:
			text, err := ev.Text(nil)
			if err != nil {
				t.Fatal(err)
			}
			add(llm.RoleUser, llm.Result{
				CallID: ev.ID, Name: names[ev.ID], IsError: ev.IsError,
				Parts: []llm.Part{llm.Text{Text: text}},
			})
		}
	}
	return out
}

// Wire returns the body that a model sends for a request, or the error if it sends none.
func Wire(
	t testing.TB, f wire.Format, model func(at llm.Endpoint) llm.Model, r *llm.Request,
) ([]byte, error) {
	t.Helper()
	server := Serve(t, Reply{Status: http.StatusBadRequest})
	answer := Collect(model(server.Endpoint(t, f)).Stream(t.Context(), r))
	for _, sent := range server.Sent() {
		if sent.Method == http.MethodPost { // not a request for the model's entry
			return sent.Body, nil
		}
	}
	return nil, answer.Err
}
