package query_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/llmtest"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/go-json-experiment/json/jsontext"
)

// A compactor is a dialect whose provider compacts: the request for it, the answer, and the block
// that the provider expects back.
type compactor struct {
	dialect, asked, answer, back string
	beta                         string
}

var compactors = []compactor{
	{
		dialect: "anthropic", beta: "compact-2026-01-12",
		asked: `{"edits":[{"type":"compact_20260112"}]}`,
		answer: sse(`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":3}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"compaction","content":null}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"compaction_delta","content":"All was said.","encrypted_content":"b3BhcXVl"}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"fine"}}`,
			`{"type":"content_block_stop","index":1}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5,"iterations":[`+
				`{"type":"compaction","input_tokens":1000,"output_tokens":100},{"type":"message","input_tokens":3,"output_tokens":5}]}}`,
			`{"type":"message_stop"}`),
		back: `{"content":[{"content":"All was said.","encrypted_content":"b3BhcXVl","type":"compaction"},{"text":"fine","type":"text"}],"role":"assistant"}`,
	},
	{
		dialect: "responses", asked: `[{"type":"compaction","compact_threshold":200000}]`,
		answer: sse(`{"type":"response.output_item.done","output_index":0,"item":{"type":"compaction","id":"cmp_1","encrypted_content":"b3BhcXVl"}}`,
			`{"type":"response.output_item.done","output_index":1,"item":{"type":"message","id":"msg_9","content":[{"type":"output_text","text":"fine"}]}}`,
			`{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":3,"output_tokens":5}}}`),
		back: `{"encrypted_content":"b3BhcXVl","id":"cmp_1","type":"compaction"},{"type":"message","role":"assistant","content":"fine"}`,
	},
}

// turns asks two questions and returns the record, and the last request with its headers.
func (c compactor) turns(t *testing.T, params llm.Params, second string, between func(*events.Stream)) (*kept, llmtest.Sent) {
	t.Helper()
	record := &kept{events.New()}
	for i, name := range []string{c.dialect, second} {
		w := dialects[name]
		answer := w.fine
		if i == 0 {
			answer = c.answer
		}
		server := llmtest.Serve(t, llmtest.Reply{Body: []byte(answer)})
		at := time.Date(2026, 1, 1, i, 0, 0, 0, time.UTC)
		if _, err := (&query.Turn{
			Record: record, Model: w.model(server.Endpoint(t, w.format)), Setup: query.Setup{Params: params},
			Now: func() time.Time { at = at.Add(time.Second); return at },
		}).Run(context.Background(), query.Prompt{
			Request: &events.ChatRequest{Content: "question"},
		}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if i == 1 {
			return record, server.Sent()[0]
		}
		if between != nil {
			between(record.stream)
		}
	}
	panic("unreachable")
}

// TestCompactionOnTheServer checks that a provider's compaction is sent back unchanged, only to the
// provider that made it and while the user wants it, that the record loses nothing, and that its
// tokens are counted.
func TestCompactionOnTheServer(t *testing.T) {
	for _, c := range compactors {
		on := llm.Params{Services: llm.Services{Context: jsontext.Value(c.asked)}}
		record, sent := c.turns(t, on, c.dialect, nil)
		if body := string(sent.Body); !strings.Contains(body, c.back) ||
			!strings.Contains(body, `"context_management":`+c.asked) || strings.Count(body, `question`) != 2 {
			t.Errorf("%s: sent is\n%s\nwithout\n%s", c.dialect, body, c.back)
		}
		if got := sent.Header.Get("Anthropic-Beta"); got != c.beta {
			t.Errorf("%s: the beta %q", c.dialect, got)
		}
		said := record.stream.At(2)
		raw, _ := said.Metadata().Value(events.MetadataExtra)
		if !strings.Contains(string(raw), "b3BhcXVl") {
			t.Errorf("%s: kept is %s", c.dialect, raw)
		}
		usage, _ := said.Metadata().Value(compact.MetadataUsage)
		if c.beta != "" && (!strings.Contains(string(usage), `"input":1003`) || !strings.Contains(string(usage), `"output":105`)) {
			t.Errorf("%s: the usage is %s", c.dialect, usage)
		}
		for name := range dialects {
			params := on
			if name == c.dialect {
				params = llm.Params{} // the user no longer wants it
			}
			_, sent := c.turns(t, params, name, nil)
			if body := string(sent.Body); strings.Contains(body, "b3BhcXVl") || strings.Count(body, "question") < 2 {
				t.Errorf("%s, then %s: sent is\n%s", c.dialect, name, body)
			}
		}
	}
}

// TestCompactionOnTheServerCoversWhatItKnows checks that the whole conversation is sent if an
// earlier part has changed since: the provider's block would hide the change.
func TestCompactionOnTheServerCoversWhatItKnows(t *testing.T) {
	for _, c := range compactors {
		on := llm.Params{Services: llm.Services{Context: jsontext.Value(c.asked)}}
		_, sent := c.turns(t, on, c.dialect, func(s *events.Stream) {
			at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			s.Insert(1, events.NewElement(at, &events.ChatRequest{Content: "merged in"}, events.Metadata{}))
		})
		if body := string(sent.Body); strings.Contains(body, "b3BhcXVl") || !strings.Contains(body, "merged in") {
			t.Errorf("%s: sent is\n%s", c.dialect, body)
		}
	}
}

// TestContextManagementHasTheProvidersForm checks that a setting in another provider's form is not
// sent.
func TestContextManagementHasTheProvidersForm(t *testing.T) {
	for name := range dialects {
		for kind, context := range map[string]string{"anthropic": compactors[0].asked, "responses": compactors[1].asked} {
			p := llm.Params{Services: llm.Services{Context: jsontext.Value(context)}}
			if got := string(served(t, name, p)["context_management"]); (got != "") != (name == kind) {
				t.Errorf("%s is sent %s", name, got)
			}
		}
	}
}

// TestPausedAnswerIsResumed checks that an answer which Anthropic pauses during its own work is
// resumed with that work unchanged.
func TestPausedAnswerIsResumed(t *testing.T) {
	w := dialects["anthropic"]
	paused := sse(`{"type":"message_start","message":{"model":"m"}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"I search."}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"query\":\"who\"}"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"message_delta","delta":{"stop_reason":"pause_turn"}}`, `{"type":"message_stop"}`)
	server := llmtest.Serve(t, llmtest.Reply{Body: []byte(paused)}, llmtest.Reply{Body: []byte(w.fine)})
	got := llmtest.Collect(w.model(server.Endpoint(t, w.format)).Stream(t.Context(), &llm.Request{
		Messages: []llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: "q"}}}},
		Cache:    llm.CachePolicy{Off: true},
	}))
	if got.Err != nil || len(server.Sent()) != 2 {
		t.Fatalf("%v after %d requests", got.Err, len(server.Sent()))
	}
	var body struct{ Messages jsontext.Value }
	if err := json.Unmarshal(server.Sent()[1].Body, &body); err != nil {
		t.Fatal(err)
	}
	want := `[{"content":[{"text":"q","type":"text"}],"role":"user"},{"content":[{"text":"I search.","type":"text"},` +
		`{"id":"s1","input":{"query":"who"},"name":"web_search","type":"server_tool_use"}],"role":"assistant"}]`
	if string(body.Messages) != want {
		t.Errorf("sent is %s\nwant %s", body.Messages, want)
	}
}
