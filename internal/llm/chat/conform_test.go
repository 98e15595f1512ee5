package chat_test

import (
	"encoding/json"
	"testing"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/chat"
	"github.com/git-jp/git-jp/internal/llm/llmtest"
	"github.com/git-jp/git-jp/internal/llm/wire"
)

func spoken(fragments ...string) []string {
	chunks := make([]string, len(fragments))
	for i, f := range fragments {
		quoted, err := json.Marshal(f)
		if err != nil {
			panic(err)
		}
		chunks[i] = delta(`{"role":"assistant","content":` + string(quoted) + `}`)
	}
	return chunks
}

func TestConforms(t *testing.T) {
	end := []string{finish("stop"), usage, "[DONE]"}
	llmtest.Conform(t, llmtest.Harness{
		Format: wire.FormatChat, Type: "text/event-stream",
		New:    func(at llm.Endpoint) llm.Model { return chat.New("m", at) },
		Answer: func(text string) []byte { return sse(append(spoken(text), end...)...) },
		Many: func(n int) []byte {
			all := make([]string, n)
			for i := range all {
				all[i] = "x"
			}
			return sse(append(spoken(all...), end...)...)
		},
		Fault: sse(delta(hi), `{"error":{"code":"overloaded","message":"`+llmtest.Overloaded+`"}}`),
	})
}

// TestOutlivesSignatures has the message of the provider behind OpenRouter, whose own message is
// not specific.
func TestOutlivesSignatures(t *testing.T) {
	t.Parallel()
	signed := llm.Reasoning{Text: "so"}
	signed.Metadata = signed.Metadata.WithText(llm.MetadataAnthropicSignature, llmtest.Stale)
	const raw = `{"error":{"message":"messages.1: Invalid signature in thinking block"}}`
	llmtest.Outlives(t, llmtest.Harness{
		Format: wire.FormatChat, Type: "text/event-stream",
		New: func(at llm.Endpoint) llm.Model {
			at.Provider = chat.OpenRouter
			return chat.New("anthropic/claude", at)
		},
		Answer: func(text string) []byte { return sse(append(spoken(text), finish("stop"))...) },
	}, raw, reply("", signed, llm.Text{Text: "a"}))
}
