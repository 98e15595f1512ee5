package anthropic

import (
	"encoding/json"
	"testing"
)

// A delta may be null, or be missing: what came before it stays.
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
