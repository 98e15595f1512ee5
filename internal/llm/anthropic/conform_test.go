package anthropic_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/anthropic"
	"github.com/git-jp/git-jp/internal/llm/llmtest"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const messageStart = `{"type":"message_start","message":{"id":"msg_1","type":"message",` +
	`"role":"assistant","model":"claude-haiku-4-5","content":[],"usage":{"input_tokens":3,` +
	`"cache_read_input_tokens":2,"cache_creation_input_tokens":4,"output_tokens":1}}}`

// sse encodes events as the provider does.
func sse(events ...string) []byte {
	var b strings.Builder
	for _, e := range events {
		var kind struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal([]byte(e), &kind); err != nil {
			panic(err)
		}
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", kind.Type, e)
	}
	return []byte(b.String())
}

func stop(reason string) []string {
	return []string{
		`{"type":"message_delta","delta":{"stop_reason":"` + reason + `"},"usage":{"output_tokens":9}}`,
		`{"type":"message_stop"}`,
	}
}

func text(fragments ...string) []string {
	events := []string{`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`}
	for _, f := range fragments {
		quoted, err := json.Marshal(f)
		if err != nil {
			panic(err)
		}
		events = append(events, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":`+
			string(quoted)+`}}`)
	}
	return append(events, `{"type":"content_block_stop","index":0}`)
}

func reply(reason string, blocks ...string) []byte {
	events := append([]string{messageStart, `{"type":"ping"}`}, blocks...)
	return sse(append(events, stop(reason)...)...)
}

func model(name string) func(at llm.Endpoint) llm.Model {
	return func(at llm.Endpoint) llm.Model {
		return anthropic.New(name, at, anthropic.Options{Continue: 2})
	}
}

func TestConforms(t *testing.T) {
	llmtest.Conform(t, llmtest.Harness{
		Format: wire.FormatAnthropic, Type: "text/event-stream", New: model("claude-haiku-4-5"),
		Answer: func(s string) []byte { return reply("end_turn", text(s)...) },
		Many: func(n int) []byte {
			return reply("end_turn", text(strings.Split(strings.Repeat("x", n), "")...)...)
		},
		Fault: sse(messageStart, text("so")[0], text("so")[1],
			`{"type":"error","error":{"type":"overloaded_error","message":"`+llmtest.Overloaded+`"}}`),
	})
}

func TestOutlivesSignatures(t *testing.T) {
	llmtest.Outlives(t, llmtest.Harness{
		Format: wire.FormatAnthropic, Type: "text/event-stream", New: model(haiku),
		Answer: func(s string) []byte { return reply("end_turn", text(s)...) },
	}, "messages.1.content.0: Invalid `signature` in `thinking` block",
		assistant("", thought("deep", llmtest.Stale), say("a")))
}
