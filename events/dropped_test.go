package events_test

import (
	"testing"

	"github.com/git-jp/git-jp/events"
)

// TestDropped checks which requests count as saved without their resources, and that none of them
// is in a stream that Skim accepts, which would hide it from a check.
func TestDropped(t *testing.T) {
	const at = `"timestamp":"2026-01-01 00:00:00.0","type":"chat_request","content":"q"`
	const attached = `"git_jp_attached":["ZmlsZTph"]`
	const resource = `{"uri":"file:///a","content":{"text":"a"}}`
	for _, tt := range []struct {
		request string
		want    bool
	}{
		{`{` + at + `}`, false},
		{`{` + at + `,"metadata":{` + attached + `}}`, true},
		{`{"metadata":{` + attached + `},` + at + `}`, true},
		{`{` + at + `,"resources":[` + resource + `],"metadata":{` + attached + `}}`, false},
		{`{` + at + `,"metadata":{` + attached + `,"git_jp_stripped":[{"uri":"file:///a"}]}}`, false},
		{`{` + at + `,"metadata":{` + attached + `,"git_jp_resources":[` + resource + `]}}`, false},
		{`{` + at + `,"metadata":{"x":{` + attached + `}}}`, false},
	} {
		data := []byte(`[{"timestamp":"2026-01-01 00:00:00.0","type":"turn_start"},` + tt.request +
			`,{"timestamp":"2026-01-01 00:00:00.0","type":"chat_response","message":"a"}]`)
		s, err := events.Decode(data)
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if got := s.At(1).Dropped(); got != tt.want {
			t.Errorf("%s: %v", tt.request, got)
		}
		if skims(t, data) && tt.want {
			t.Errorf("%s: skimmed", tt.request)
		}
	}
}
