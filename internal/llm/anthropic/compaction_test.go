package anthropic_test

import (
	"testing"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/llmtest"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/git-jp/git-jp/internal/realdata"
	"github.com/google/go-cmp/cmp"
)

// TestRecordedCompactions checks that a compacted conversation is sent as jp sends it, except for
// the differences that [TestRecordedConversations] lists.
func TestRecordedCompactions(t *testing.T) {
	dir := realdata.Dir(t, "cassettes", "anthropic", "compaction")
	for name, messages := range llmtest.Compactions(t) {
		t.Run(name, func(t *testing.T) {
			r := &llm.Request{Messages: messages}
			r.Params.Reasoning.Mode = llm.ReasoningOff
			sent, err := llmtest.Wire(t, wire.FormatAnthropic, model("claude-haiku-4-5"), r)
			if err != nil {
				t.Fatal(err)
			}
			recorded := llmtest.Body(t, dir+"/"+name+".snap")
			if diff := cmp.Diff(plain(t, recorded), plain(t, sent)); diff != "" {
				t.Errorf("(-recorded +sent):\n%s", diff)
			}
		})
	}
}
