package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/llmtest"
	"github.com/git-jp/git-jp/internal/llm/openai"
	"github.com/git-jp/git-jp/internal/llm/wire"
)

func spoken(fragments ...string) []byte {
	data := []string{begin}
	for _, f := range fragments {
		quoted, err := json.Marshal(f)
		if err != nil {
			panic(err)
		}
		data = append(data, strings.Replace(fragment, `"Hi"`, string(quoted), 1))
	}
	return sse(append(data, end, completed)...)
}

func TestConforms(t *testing.T) {
	llmtest.Conform(t, llmtest.Harness{
		Format: wire.FormatResponses, Type: "text/event-stream",
		New:    func(at llm.Endpoint) llm.Model { return openai.New("gpt-5", at) },
		Answer: func(text string) []byte { return spoken(text) },
		Many: func(n int) []byte {
			return spoken(strings.Split(strings.Repeat("x", n), "")...)
		},
		Fault: sse(begin, fragment, `{"type":"error","message":"`+llmtest.Overloaded+`"}`),
	})
}

func TestOutlivesSecrets(t *testing.T) {
	t.Parallel()
	llmtest.Outlives(t, llmtest.Harness{
		Format: wire.FormatResponses, Type: "text/event-stream",
		New:    func(at llm.Endpoint) llm.Model { return openai.New("gpt-5", at) },
		Answer: func(text string) []byte { return spoken(text) },
	}, "The encrypted content for item rs_1 could not be verified.",
		reply("", thought("so", "rs_1", llmtest.Stale), llm.Text{Text: "a"}))
}
