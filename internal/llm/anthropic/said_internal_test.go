package anthropic

import (
	"encoding/json"
	"testing"

	"github.com/git-jp/git-jp/internal/llm"
)

// TestOnlyTheProvidersWorkIsResumed checks that an answer is only resumed if the provider can
// continue its last block.
func TestOnlyTheProvidersWorkIsResumed(t *testing.T) {
	for text, want := range map[string]bool{
		`{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`: true,
		`{"type":"web_search_tool_result","tool_use_id":"s","content":[]}`:   true,
		`{"type":"mcp_tool_use","id":"s","name":"x"}`:                        true,
		`{"type":"compaction","content":"c"}`:                                true,
		`{"type":"STOP","text":"fine"}`:                                      false,
		`{"type":5}`:                                                         false,
	} {
		if got := goesOn(llm.Opaque{JSON: []byte(text)}); got != want {
			t.Errorf("%s: got %t, want %t", text, got, want)
		}
	}
	if goesOn(llm.Text{Text: "fine"}) {
		t.Error("words are resumed")
	}
}

// TestPartsOfACompaction checks that a delta that is null or missing leaves earlier members in
// place.
func TestPartsOfACompaction(t *testing.T) {
	s := said{
		raw:    []byte(`{"type":"compaction","content":"a"}`),
		deltas: []json.RawMessage{[]byte(`null`), nil, []byte(`{"encrypted_content":"b"}`)},
	}
	s.began.Type = "compaction"
	const want = `{"content":"a","encrypted_content":"b","type":"compaction"}`
	if got := string(s.block()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
