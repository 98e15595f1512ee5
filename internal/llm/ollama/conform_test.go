package ollama_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/llmtest"
	"github.com/git-jp/git-jp/internal/llm/ollama"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const done = `{"model":"qwen","message":{"role":"assistant","content":""},"done":true,` +
	`"done_reason":"stop","prompt_eval_count":7,"eval_count":5}` + "\n"

func lines(fragments ...string) []byte {
	var b strings.Builder
	for _, f := range fragments {
		quoted, err := json.Marshal(f)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&b, `{"message":{"role":"assistant","content":%s},"done":false}`+"\n", quoted)
	}
	return []byte(b.String())
}

func model(at llm.Endpoint) llm.Model { return ollama.New("qwen", at) }

func TestConforms(t *testing.T) {
	llmtest.Conform(t, llmtest.Harness{
		Format: wire.FormatOllama, Type: "application/x-ndjson", New: model,
		Answer: func(s string) []byte { return append(lines(s), done...) },
		Many: func(n int) []byte {
			return append(lines(strings.Split(strings.Repeat("x", n), "")...), done...)
		},
		Fault: append(lines("so"), `{"error":"`+llmtest.Overloaded+`"}`+"\n"...),
	})
}
