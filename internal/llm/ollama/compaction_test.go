package ollama_test

import (
	"testing"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/llmtest"
	"github.com/git-jp/git-jp/internal/llm/ollama"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/git-jp/git-jp/internal/realdata"
	"github.com/google/go-cmp/cmp"
)

// TestRecordedCompactions checks that a compacted conversation is sent as jp sends it, except for
// the differences that [TestRecordedConversations] lists, and that the recorded bodies do not ask
// for a stream.
func TestRecordedCompactions(t *testing.T) {
	dir := realdata.Dir(t, "cassettes", "ollama", "compaction")
	for name, messages := range llmtest.Compactions(t) {
		t.Run(name, func(t *testing.T) {
			r := &llm.Request{Messages: messages}
			r.Params.Reasoning.Mode = llm.ReasoningOff
			qwen := func(at llm.Endpoint) llm.Model { return ollama.New("qwen3.5:9b", at) }
			sent, err := llmtest.Wire(t, wire.FormatOllama, qwen, r)
			if err != nil {
				t.Fatal(err)
			}
			want, got := plain(t, llmtest.Body(t, dir+"/"+name+".snap")), plain(t, sent)
			want.Stream = true
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-recorded +sent):\n%s", diff)
			}
		})
	}
}
