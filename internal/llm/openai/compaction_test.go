package openai_test

import (
	"path/filepath"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/llmtest"
	"github.com/git-jp/git-jp/internal/llm/openai"
	"github.com/git-jp/git-jp/internal/realdata"
	"github.com/google/go-cmp/cmp"
)

// fourTurns is the conversation behind jp's recorded requests of compacted conversations.
const fourTurns = `[
{"type":"turn_start","timestamp":"2020-01-01 00:00:00.0"},
{"type":"chat_request","timestamp":"2020-01-01 00:00:01.0","content":"What is the capital of France?"},
{"type":"chat_response","timestamp":"2020-01-01 00:00:02.0","reasoning":"The user wants a capital city."},
{"type":"chat_response","timestamp":"2020-01-01 00:00:03.0","message":"Paris."},
{"type":"turn_start","timestamp":"2020-01-01 00:00:04.0"},
{"type":"chat_request","timestamp":"2020-01-01 00:00:05.0","content":"Read my notes file."},
{"type":"tool_call_request","timestamp":"2020-01-01 00:00:06.0","id":"call_1","name":"read_file",
 "arguments":{"path":"bm90ZXMubWQ="}},
{"type":"tool_call_response","timestamp":"2020-01-01 00:00:07.0","id":"call_1",
 "content":"LSBidXkgbWlsawotIGNhbGwgZGVudGlzdA==","is_error":false},
{"type":"chat_response","timestamp":"2020-01-01 00:00:08.0",
 "message":"Your notes mention milk and the dentist."},
{"type":"turn_start","timestamp":"2020-01-01 00:00:09.0"},
{"type":"chat_request","timestamp":"2020-01-01 00:00:10.0","content":"And the capital of Germany?"},
{"type":"chat_response","timestamp":"2020-01-01 00:00:11.0","message":"Berlin."},
{"type":"turn_start","timestamp":"2020-01-01 00:00:12.0"},
{"type":"chat_request","timestamp":"2020-01-01 00:00:13.0","content":"And of Italy?"}`

// overlays are the compactions of each case.
func overlays() map[string]string {
	at := `,{"type":"compaction","timestamp":"2020-01-02 00:00:00.0",`
	later := `,{"type":"compaction","timestamp":"2020-01-03 00:00:00.0",`
	strip := at + `"from_turn":0,"to_turn":2,"tool_calls":{"policy":"strip",`
	return map[string]string{
		"baseline":        "",
		"reasoning_strip": at + `"from_turn":0,"to_turn":2,"reasoning":"strip"}`,
		"summary": at + `"from_turn":0,"to_turn":2,"summary":{"summary":` +
			`"Earlier: the user asked about France's capital and had their notes read."}}`,
		"summary_overlap": at + `"from_turn":0,"to_turn":1,"summary":{"summary":` +
			`"Summary A: France's capital and the start of the notes lookup."}}` +
			later + `"from_turn":1,"to_turn":2,"summary":{"summary":` +
			`"Summary B: the notes lookup and Germany's capital."}}`,
		"tool_strip_request":  strip + `"request":true,"response":false}}`,
		"tool_strip_response": strip + `"request":false,"response":true}}`,
		"tool_strip_both":     strip + `"request":true,"response":true}}`,
		"tool_omit":           at + `"from_turn":0,"to_turn":2,"tool_calls":{"policy":"omit"}}`,
	}
}

// TestCompaction holds the bodies of compacted conversations against jp's. They differ in what
// [expected] lists, and in that ours asks for a stream.
func TestCompaction(t *testing.T) {
	t.Parallel()
	dir := realdata.Dir(t, "cassettes", "openai", "compaction")
	for name, overlay := range overlays() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := events.Decode([]byte(fourTurns + overlay + "]"))
			if err != nil {
				t.Fatal(err)
			}
			want := expected(t, llmtest.Body(t, filepath.Join(dir, name+".snap")))
			want["stream"] = true
			r := &llm.Request{
				Messages: messages(t, s.Project().Stream),
				Session:  "jp:conversation:1577836800000000",
				Params:   llm.Params{Reasoning: llm.ReasoningParams{Mode: llm.ReasoningOff}},
			}
			server := llmtest.Serve(t, llmtest.Reply{Status: 500})
			m := openai.New("gpt-5-mini", server.Endpoint(t, llm.FormatResponses))
			llmtest.Collect(m.Stream(t.Context(), r))
			got := llmtest.Decoded(server.Sent()[0].Body)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-recorded +sent):\n%s", diff)
			}
		})
	}
}

func messages(t *testing.T, s *events.Stream) []llm.Message {
	t.Helper()
	var out []llm.Message
	for _, e := range s.All() {
		role := llm.RoleAssistant
		var part llm.Part
		switch ev := e.Event().(type) {
		case *events.ChatRequest:
			role, part = llm.RoleUser, llm.Text{Text: ev.Content}
		case *events.ToolCallResponse:
			text, err := ev.Text(nil)
			if err != nil {
				t.Fatal(err)
			}
			role, part = llm.RoleUser, llm.Result{CallID: ev.ID, Parts: []llm.Part{llm.Text{Text: text}}}
		case *events.ChatResponse, *events.ToolCallRequest:
			part = llmtest.Replayed(llm.Delta{Event: ev})
		default:
			continue
		}
		out = append(out, llm.Message{Role: role, Parts: []llm.Part{part}})
	}
	return out
}
