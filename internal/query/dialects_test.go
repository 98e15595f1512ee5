package query_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/anthropic"
	"github.com/git-jp/git-jp/internal/llm/chat"
	"github.com/git-jp/git-jp/internal/llm/gemini"
	"github.com/git-jp/git-jp/internal/llm/llmtest"
	"github.com/git-jp/git-jp/internal/llm/ollama"
	"github.com/git-jp/git-jp/internal/llm/openai"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/go-json-experiment/json/jsontext"
)

// A dialect is an adapter, and an answer in its format with everything that it can have: signed
// thinking, text and calls.
type dialect struct {
	format wire.Format
	model  func(at llm.Endpoint) llm.Model
	answer string
	fine   string // an answer of one word
}

const sep = "\n\n"

func sse(events ...string) string { return "data: " + strings.Join(events, sep+"data: ") + sep }

var dialects = map[string]dialect{
	"anthropic": {
		wire.FormatAnthropic,
		func(at llm.Endpoint) llm.Model { return anthropic.New("claude-haiku-4-5", at, anthropic.Options{}) },
		sse(`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":3}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"so"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"ZA=="}}`,
			`{"type":"content_block_stop","index":1}`,
			`{"type":"content_block_start","index":5,"content_block":{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}}`,
			`{"type":"content_block_delta","index":5,"delta":{"type":"input_json_delta","partial_json":"{\"query\":\"extra-1\"}"}}`,
			`{"type":"content_block_stop","index":5}`,
			`{"type":"content_block_start","index":6,"content_block":{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"url":"http://extra-2"}]}}`,
			`{"type":"content_block_stop","index":6}`,
			`{"type":"content_block_start","index":7,"content_block":{"type":"later"}}`,
			`{"type":"content_block_delta","index":7,"delta":{"type":"later_delta","more":"extra-3"}}`,
			`{"type":"content_block_stop","index":7}`,
			`{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"I look."}}`,
			`{"type":"content_block_delta","index":2,"delta":{"type":"citations_delta","citation":{"url":"http://extra-4"}}}`,
			`{"type":"content_block_stop","index":2}`,
			`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"t1","name":"wait","input":{}}}`,
			`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"n\":1}"}}`,
			`{"type":"content_block_stop","index":3}`,
			`{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"t2","name":"wait","input":{}}}`,
			`{"type":"content_block_stop","index":4}`,
			`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}`,
			`{"type":"message_stop"}`),
		sse(`{"type":"message_start","message":{"model":"m"}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"fine"}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`),
	},
	"responses": {
		wire.FormatResponses,
		func(at llm.Endpoint) llm.Model { return openai.New("gpt-5", at) },
		sse(`{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[]}}`,
			`{"type":"response.reasoning_summary_part.added","output_index":0,"item_id":"rs_1"}`,
			`{"type":"response.reasoning_summary_text.delta","output_index":0,"item_id":"rs_1","delta":"so"}`,
			`{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","encrypted_content":"ZW5j","summary":[{"type":"summary_text","text":"so"}]}}`,
			`{"type":"response.output_item.added","output_index":1,"item":{"type":"message","id":"msg_1","content":[]}}`,
			`{"type":"response.output_text.delta","output_index":1,"item_id":"msg_1","delta":"I look."}`,
			`{"type":"response.output_item.done","output_index":1,"item":{"type":"message","id":"msg_1","phase":"commentary","content":[{"type":"output_text","text":"I look.","annotations":[{"type":"url_citation","url":"http://extra-1"}]}]}}`,
			`{"type":"response.output_item.done","output_index":4,"item":{"type":"web_search_call","id":"ws_1","action":{"query":"extra-2"}}}`,
			`{"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","id":"fc_1","call_id":"t1","name":"wait","arguments":""}}`,
			`{"type":"response.function_call_arguments.delta","output_index":2,"item_id":"fc_1","delta":"{\"n\":1}"}`,
			`{"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","id":"fc_1","call_id":"t1","name":"wait","arguments":"{\"n\":1}"}}`,
			`{"type":"response.output_item.done","output_index":3,"item":{"type":"function_call","id":"fc_2","call_id":"t2","name":"wait","arguments":"{}"}}`,
			`{"type":"response.completed","response":{"model":"m","status":"completed","usage":{"input_tokens":1,"output_tokens":7}}}`),
		sse(`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"msg_9","content":[{"type":"output_text","text":"fine"}]}}`,
			`{"type":"response.completed","response":{"status":"completed"}}`),
	},
	"chat": {
		wire.FormatChat,
		func(at llm.Endpoint) llm.Model {
			at.Provider = chat.OpenRouter
			return chat.New("anthropic/claude", at)
		},
		sse(`{"model":"m","choices":[{"index":0,"delta":{"role":"assistant","reasoning":"so","reasoning_details":[{"type":"reasoning.text","text":"so","format":"anthropic-claude-v1","index":0}]}}]}`,
			`{"choices":[{"index":0,"delta":{"content":"I look.","annotations":[{"type":"url_citation","url_citation":{"url":"http://extra-1"}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"images":[{"type":"image_url","image_url":{"url":"data:extra-2"}}]}}],"citations":["http://extra-3"]}`,
			`{"choices":[{"index":0,"delta":{"reasoning_details":[{"type":"reasoning.text","signature":"c2ln","index":0}]}}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t1","function":{"name":"wait","arguments":""}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"n\":1}"}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"t2","function":{"name":"wait","arguments":"{}"}}]}}]}`,
			`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`,
			`[DONE]`),
		sse(`{"choices":[{"index":0,"delta":{"content":"fine"},"finish_reason":"stop"}]}`, `[DONE]`),
	},
	"mistral": {
		wire.FormatChat,
		func(at llm.Endpoint) llm.Model {
			at.Provider = chat.Mistral
			return chat.New("mistral-small", at)
		},
		sse(`{"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"so"}]}]}}]}`,
			`{"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"I look."},{"type":"reference","reference_ids":["extra-1"]}]}}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"id":"t1","index":0,"function":{"name":"wait","arguments":"{\"n\":1}"}},{"id":"t2","index":1,"function":{"name":"wait","arguments":{}}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3}}`,
			`[DONE]`),
		sse(`{"choices":[{"index":0,"delta":{"content":"fine"},"finish_reason":"stop"}]}`, `[DONE]`),
	},
	"local": {
		wire.FormatChat,
		func(at llm.Endpoint) llm.Model {
			at.Provider = chat.LlamaCPP
			return chat.New("qwen3", at)
		},
		sse(`{"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"<thi"}}]}`,
			`{"choices":[{"index":0,"delta":{"content":"nk>"}}]}`, `{"choices":[{"index":0,"delta":{"content":"so"}}]}`,
			`{"choices":[{"index":0,"delta":{"content":"</think>"}}]}`,
			`{"choices":[{"index":0,"delta":{"content":"I look."}}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"wait","arguments":"{\"n\":1}"}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t2","function":{"name":"wait","arguments":"{}"}}]}}]}`,
			`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, `[DONE]`),
		sse(`{"choices":[{"index":0,"delta":{"content":"fine"},"finish_reason":"stop"}]}`, `[DONE]`),
	},
	"gemini": {
		wire.FormatGemini,
		func(at llm.Endpoint) llm.Model { return gemini.New("gemini-3-pro-preview", at) },
		sse(`{"candidates":[{"index":0,"content":{"parts":[{"text":"so","thought":true}]}}],"responseId":"r"}`,
			`{"candidates":[{"index":0,"content":{"parts":[{"text":"I look.","thoughtSignature":"c2ln"}]}}],"responseId":"r"}`,
			`{"candidates":[{"index":0,"content":{"parts":[{"functionCall":{"name":"wait","args":{"n":1}},"thoughtSignature":"c2ln"},{"functionCall":{"id":"t2","name":"wait","args":{}}}]}}],"responseId":"r"}`,
			`{"candidates":[{"index":0,"content":{"parts":[{"executableCode":{"code":"extra-1"}},{"codeExecutionResult":{"output":"extra-2"}},{"toolCall":{"id":"extra-4"},"thoughtSignature":"c2ln"}]},"groundingMetadata":{"webSearchQueries":["extra-3"]}}]}`,
			`{"candidates":[{"index":0,"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":4}}`),
		sse(`{"candidates":[{"index":0,"content":{"parts":[{"text":"fine"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3}}`),
	},
	"ollama": {
		wire.FormatOllama,
		func(at llm.Endpoint) llm.Model { return ollama.New("m", at) },
		`{"model":"m","message":{"role":"assistant","thinking":"so","content":""},"done":false}` + "\n" +
			`{"model":"m","message":{"role":"assistant","content":"I look."},"done":false}` + "\n" +
			`{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"id":"t1","function":{"name":"wait","arguments":{"n":1}}},{"function":{"name":"wait","arguments":{}}}]},"done":false}` + "\n" +
			`{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":7,"eval_count":2}` + "\n",
		`{"model":"m","message":{"role":"assistant","content":"fine"},"done":true,"done_reason":"stop"}` + "\n",
	},
}

// replies is a server without a network: it returns the bodies in order, and repeats the last.
type replies struct {
	bodies []string
	sent   int
}

func (r *replies) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
	body := r.bodies[min(r.sent, len(r.bodies)-1)]
	r.sent++
	return &http.Response{
		StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body)), Request: req,
		Header: http.Header{"Content-Type": {"text/event-stream"}},
	}, nil
}

// endpoint returns an endpoint that answers with the bodies, without waiting.
func (w dialect) endpoint(bodies ...string) llm.Endpoint {
	return llm.Endpoint{
		Provider: string(w.format), BaseURL: "http://localhost/v1", Key: "key",
		Client: wire.NewClient(wire.ClientOptions{
			Provider: string(w.format), Format: w.format, Idle: 10 * time.Second,
			Base: &replies{bodies: bodies},
		}),
		Retry: llm.Retry{Max: 1, Sleep: func(ctx context.Context, _ time.Duration) error {
			return ctx.Err()
		}},
	}
}

// A kept is a record in memory that accepts only streams that could be loaded from a file.
type kept struct{ stream *events.Stream }

func (k *kept) Stream() *events.Stream { return k.stream }

func (k *kept) Contents() blobs.Reader { return nil }

func (k *kept) Save(change func(*events.Stream) error) error {
	next := k.stream.Clone()
	if err := change(next); err != nil {
		return err
	}
	if err := next.Validate(); err != nil {
		return fmt.Errorf("%w: %w", errNotKept, err)
	}
	stream, err := events.Decode(next.Encode())
	if err != nil {
		return fmt.Errorf("%w: %w", errNotKept, err)
	}
	for i, e := range stream.All() {
		if err := e.Loadable(); err != nil {
			return fmt.Errorf("%w: element %d: %w", errNotKept, i, err)
		}
	}
	k.stream = stream
	return nil
}

var errNotKept = errors.New("what was said cannot be kept")

// setup requests all services that the provider runs itself.
func (w dialect) setup() query.Setup {
	services := llm.Services{WebSearch: jsontext.Value("{}"), Context: jsontext.Value(compactors[0].asked)}
	if w.format == wire.FormatResponses {
		services.Context = jsontext.Value(compactors[1].asked)
	}
	return query.Setup{Params: llm.Params{Services: services}}
}

// survives checks that any answer can be saved and the conversation continued: no later request is
// one that the provider is known to refuse. It returns the saved stream.
func survives(t fataler, w dialect, answer string) *events.Stream {
	late := time.AfterFunc(20*time.Second, func() { panic("no end: " + answer) })
	defer late.Stop()
	record := &kept{events.New()}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	turn := func(bodies ...string) error {
		_, err := (&query.Turn{
			Record: record, Model: w.model(w.endpoint(bodies...)), Setup: w.setup(),
			Now: func() time.Time { at = at.Add(time.Second); return at },
		}).Run(context.Background(), query.Prompt{
			Request: &events.ChatRequest{Content: "question"},
		})
		return err
	}
	refused := new(wire.InvalidError)
	// The answer may be invalid; then it ends in an error.
	if err := turn(answer, w.fine); errors.Is(err, errNotKept) || errors.As(err, &refused) {
		t.Fatalf("%v after\n%s", err, answer)
	}
	first := record.stream
	if err := turn(w.fine); err != nil {
		t.Fatalf("the conversation does not go on: %v after\n%s", err, answer)
	}
	return first
}

func TestWireIsUnderstood(t *testing.T) {
	for name, w := range dialects {
		got := llmtest.Collect(w.model(w.endpoint(w.answer)).Stream(t.Context(), &llm.Request{
			Messages: []llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: "q"}}}},
		}))
		if got.Err != nil || len(got.Faults) > 0 || got.Text() != "I look." || len(got.Calls()) != 2 {
			t.Errorf("%s: %q, %d calls, %v, %q", name, got.Text(), len(got.Calls()), got.Err, got.Faults)
		}
		stream := survives(t, w, w.answer)
		// Members that no part can hold are saved exactly once.
		var kept strings.Builder
		for _, e := range stream.All() {
			extra, _ := e.Metadata().Value(events.MetadataExtra)
			kept.Write(extra)
		}
		for i := 1; strings.Contains(w.answer, fmt.Sprint("extra-", i)); i++ {
			if n := strings.Count(kept.String(), fmt.Sprint("extra-", i)); n != 1 {
				t.Errorf("%s: extra-%d is kept %d times in %s", name, i, n, kept.String())
			}
		}
	}
}
