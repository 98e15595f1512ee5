package query_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/realdata"
)

// pictured has a result and an attachment that are images, results in another order than their
// calls, ids that few providers accept, two calls with one id, and a call without a result.
const pictured = `[{"timestamp":"2026-01-01 00:00:00.0","type":"turn_start"},
{"timestamp":"2026-01-01 00:00:00.0","type":"chat_request","content":"q","resources":[
 {"uri":"file:///a.png","mimeType":"image/png","content":{"blob":"iVBORw0KGgo="}},
 {"uri":"file:///a.pdf","mimeType":"application/pdf","content":{"blob":"JVBERi0="}},
 {"uri":"file:///a.bin","mimeType":"application/x-none","content":{"blob":"AAEC"}}]},
{"timestamp":"2026-01-01 00:00:00.0","type":"chat_response","reasoning":"aG0="},
{"timestamp":"2026-01-01 00:00:00.0","type":"tool_call_request","id":"a b/c","name":"one","arguments":{}},
{"timestamp":"2026-01-01 00:00:00.0","type":"tool_call_request","id":"b","name":"two.three","arguments":{"x":[1,null]}},
{"timestamp":"2026-01-01 00:00:00.0","type":"tool_call_response","id":"b","content":[
 {"type":"image","mimeType":"image/png","content":{"blob":"iVBORw0KGgo="}}],"is_error":false},
{"timestamp":"2026-01-01 00:00:00.0","type":"tool_call_response","id":"a b/c","content":"","is_error":true},
{"timestamp":"2026-01-01 00:00:00.0","type":"tool_call_request","id":"b","name":"two.three","arguments":{}},
{"timestamp":"2026-01-01 00:00:00.0","type":"tool_call_response","id":"b","content":"eA==","is_error":false},
{"timestamp":"2026-01-01 00:00:00.0","type":"chat_response","data":{"a":1}},
{"timestamp":"2026-01-01 00:00:00.0","type":"turn_start"},
{"timestamp":"2026-01-01 00:00:00.0","type":"chat_request","content":"and?"},
{"timestamp":"2026-01-01 00:00:00.0","type":"tool_call_request","id":"c","name":"one","arguments":{}}]`

// conversations returns the conversation that each dialect leaves, and all real ones.
func conversations(t *testing.T) map[string]*events.Stream {
	t.Helper()
	all := map[string]*events.Stream{}
	add := func(name string, data []byte) {
		s, err := events.Decode(data)
		if err != nil {
			t.Logf("%s: %v", name, err) // jp cannot load all of them
			return
		}
		all[name] = s
	}
	add("pictured", []byte(pictured))
	for name, w := range dialects {
		all["of "+name] = survives(t, w, w.answer)
	}
	data, ok := realdata.Find()
	if !ok {
		return all
	}
	files, err := filepath.Glob(filepath.Join(data, "conversations", "*", "events.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		add(f, text)
	}
	return all
}

// TestAnyConversationOnAnyModel continues any conversation with any model, whichever model had it
// before and whether that is known: each request follows all rules of the provider that can be
// checked.
func TestAnyConversationOnAnyModel(t *testing.T) {
	all := conversations(t)
	tried := 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for to, w := range dialects {
			for _, model := range []string{"", "anthropic/claude-haiku-4-5", w.model(w.endpoint(w.fine)).ID()} {
				continues(t, fmt.Sprintf("%s, by %q, on %s", name, model, to), all[name], w, model)
				tried++
			}
		}
	}
	t.Logf("%d conversations, %d continued", len(all), tried)
}

func continues(t *testing.T, name string, stream *events.Stream, w dialect, model string) {
	t.Helper()
	base := settings.Config{}
	if model != "" {
		var err error
		base, err = settings.Parse(fmt.Appendf(nil, `{"assistant":{"model":{"id":%q}}}`, model), 0)
		if err != nil {
			t.Fatal(err)
		}
	}
	record := &kept{stream.Clone()}
	answer, err := (&query.Turn{
		Record: record, Model: w.model(w.endpoint(w.fine)), Base: base,
		Now: func() time.Time { return time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC) },
	}).Run(context.Background(), query.Prompt{Request: &events.ChatRequest{Content: "go on"}})
	if err != nil || answer.Text != "fine" {
		t.Errorf("%s: %q, %v", name, answer.Text, err)
	}
}
