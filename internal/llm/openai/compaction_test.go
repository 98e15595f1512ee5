package openai_test

import (
	"path/filepath"
	"testing"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/llmtest"
	"github.com/git-jp/git-jp/internal/llm/openai"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/git-jp/git-jp/internal/realdata"
	"github.com/google/go-cmp/cmp"
)

// TestCompaction compares the bodies of compacted conversations with jp's. They differ as
// [expected] lists, and ours ask for a stream.
func TestCompaction(t *testing.T) {
	t.Parallel()
	dir := realdata.Dir(t, "cassettes", "openai", "compaction")
	model := func(at llm.Endpoint) llm.Model { return openai.New("gpt-5-mini", at) }
	for name, messages := range llmtest.Compactions(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := expected(t, llmtest.Body(t, filepath.Join(dir, name+".snap")))
			want["stream"] = true
			got, err := llmtest.Wire(t, wire.FormatResponses, model, &llm.Request{
				Messages: messages, Session: "jp:conversation:1577836800000000",
				Params: llm.Params{Reasoning: llm.ReasoningParams{Mode: llm.ReasoningOff}},
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, llmtest.Decoded(got)); diff != "" {
				t.Errorf("(-recorded +sent):\n%s", diff)
			}
		})
	}
}
