package query_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
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
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/realdata"
	"pgregory.net/rapid"
)

// A dialect is an adapter, and an answer in its format that has all there is: thinking with a
// proof, text and calls.
type dialect struct {
	format llm.Format
	model  func(at llm.Endpoint) llm.Model
	answer string
	fine   string // an answer of one word
}

const sep = "\n\n"

func sse(events ...string) string { return "data: " + strings.Join(events, sep+"data: ") + sep }

var dialects = map[string]dialect{
	"anthropic": {
		llm.FormatAnthropic,
		func(at llm.Endpoint) llm.Model { return anthropic.New("claude-haiku-4-5", at, anthropic.Options{}) },
		sse(`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":3}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"so"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"ZA=="}}`,
			`{"type":"content_block_stop","index":1}`,
			`{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"I look."}}`,
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
		llm.FormatResponses,
		func(at llm.Endpoint) llm.Model { return openai.New("gpt-5", at) },
		sse(`{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[]}}`,
			`{"type":"response.reasoning_summary_part.added","output_index":0,"item_id":"rs_1"}`,
			`{"type":"response.reasoning_summary_text.delta","output_index":0,"item_id":"rs_1","delta":"so"}`,
			`{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","encrypted_content":"ZW5j","summary":[{"type":"summary_text","text":"so"}]}}`,
			`{"type":"response.output_item.added","output_index":1,"item":{"type":"message","id":"msg_1","content":[]}}`,
			`{"type":"response.output_text.delta","output_index":1,"item_id":"msg_1","delta":"I look."}`,
			`{"type":"response.output_item.done","output_index":1,"item":{"type":"message","id":"msg_1","phase":"commentary","content":[{"type":"output_text","text":"I look."}]}}`,
			`{"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","id":"fc_1","call_id":"t1","name":"wait","arguments":""}}`,
			`{"type":"response.function_call_arguments.delta","output_index":2,"item_id":"fc_1","delta":"{\"n\":1}"}`,
			`{"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","id":"fc_1","call_id":"t1","name":"wait","arguments":"{\"n\":1}"}}`,
			`{"type":"response.output_item.done","output_index":3,"item":{"type":"function_call","id":"fc_2","call_id":"t2","name":"wait","arguments":"{}"}}`,
			`{"type":"response.completed","response":{"model":"m","status":"completed","usage":{"input_tokens":1,"output_tokens":7}}}`),
		sse(`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"msg_9","content":[{"type":"output_text","text":"fine"}]}}`,
			`{"type":"response.completed","response":{"status":"completed"}}`),
	},
	"chat": {
		llm.FormatChat,
		func(at llm.Endpoint) llm.Model {
			return chat.New("anthropic/claude", at, chat.Options{Dialect: chat.OpenRouter})
		},
		sse(`{"model":"m","choices":[{"index":0,"delta":{"role":"assistant","reasoning":"so","reasoning_details":[{"type":"reasoning.text","text":"so","format":"anthropic-claude-v1","index":0}]}}]}`,
			`{"choices":[{"index":0,"delta":{"content":"I look."}}]}`,
			`{"choices":[{"index":0,"delta":{"reasoning_details":[{"type":"reasoning.text","signature":"c2ln","index":0}]}}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t1","function":{"name":"wait","arguments":""}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"n\":1}"}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"t2","function":{"name":"wait","arguments":"{}"}}]}}]}`,
			`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`,
			`[DONE]`),
		sse(`{"choices":[{"index":0,"delta":{"content":"fine"},"finish_reason":"stop"}]}`, `[DONE]`),
	},
	"gemini": {
		llm.FormatGemini,
		func(at llm.Endpoint) llm.Model { return gemini.New("gemini-3-pro-preview", at) },
		sse(`{"candidates":[{"index":0,"content":{"parts":[{"text":"so","thought":true}]}}],"responseId":"r"}`,
			`{"candidates":[{"index":0,"content":{"parts":[{"text":"I look.","thoughtSignature":"c2ln"}]}}],"responseId":"r"}`,
			`{"candidates":[{"index":0,"content":{"parts":[{"functionCall":{"name":"wait","args":{"n":1}},"thoughtSignature":"c2ln"},{"functionCall":{"id":"t2","name":"wait","args":{}}}]}}],"responseId":"r"}`,
			`{"candidates":[{"index":0,"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":4}}`),
		sse(`{"candidates":[{"index":0,"content":{"parts":[{"text":"fine"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3}}`),
	},
	"ollama": {
		llm.FormatOllama,
		func(at llm.Endpoint) llm.Model { return ollama.New("m", at, ollama.Options{Window: 8192}) },
		`{"model":"m","message":{"role":"assistant","thinking":"so","content":""},"done":false}` + "\n" +
			`{"model":"m","message":{"role":"assistant","content":"I look."},"done":false}` + "\n" +
			`{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"id":"t1","function":{"name":"wait","arguments":{"n":1}}},{"function":{"name":"wait","arguments":{}}}]},"done":false}` + "\n" +
			`{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":7,"eval_count":2}` + "\n",
		`{"model":"m","message":{"role":"assistant","content":"fine"},"done":true,"done_reason":"stop"}` + "\n",
	},
}

// replies is a server without a network: the bodies in order, the last one again and again.
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

// endpoint reaches a server that answers with the bodies, without waiting.
func (w dialect) endpoint(bodies ...string) llm.Endpoint {
	return llm.Endpoint{
		Provider: string(w.format), BaseURL: "http://localhost/v1", Key: "key",
		Client: llm.NewClient(llm.ClientOptions{
			Provider: string(w.format), Format: w.format, Idle: 10 * time.Second,
			Base: &replies{bodies: bodies},
		}),
		Retry: llm.Retry{Max: 1, Sleep: func(ctx context.Context, _ time.Duration) error {
			return ctx.Err()
		}},
	}
}

// A kept is a record in memory that takes only what a file could be loaded from.
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

// survives holds that whatever was answered can be kept, and that the conversation goes on: no
// request that follows is one that the provider is known to refuse.
func survives(t interface{ Fatalf(string, ...any) }, w dialect, answer string) {
	late := time.AfterFunc(20*time.Second, func() { panic("no end: " + answer) })
	defer late.Stop()
	record := &kept{events.New()}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	turn := func(bodies ...string) error {
		_, err := (&query.Turn{
			Record: record, Model: w.model(w.endpoint(bodies...)),
			Now: func() time.Time { at = at.Add(time.Second); return at },
		}).Run(context.Background(), query.Prompt{
			Request: &events.ChatRequest{Content: "question"},
		})
		return err
	}
	refused := new(llm.InvalidError)
	// What is answered may be no answer; then that is the error.
	if err := turn(answer, w.fine); errors.Is(err, errNotKept) || errors.As(err, &refused) {
		t.Fatalf("%v after\n%s", err, answer)
	}
	if err := turn(w.fine); err != nil {
		t.Fatalf("the conversation does not go on: %v after\n%s", err, answer)
	}
}

func TestWireIsUnderstood(t *testing.T) {
	for name, w := range dialects {
		got := llmtest.Collect(w.model(w.endpoint(w.answer)).Stream(t.Context(), &llm.Request{
			Messages: []llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: "q"}}}},
		}))
		if got.Err != nil || len(got.Faults) > 0 || got.Text() != "I look." || len(got.Calls()) != 2 {
			t.Errorf("%s: %q, %d calls, %v, %q", name, got.Text(), len(got.Calls()), got.Err, got.Faults)
		}
		survives(t, w, w.answer)
	}
}

// Nothing that a provider sends makes a conversation one that cannot be loaded or go on.
func TestWhateverIsAnsweredGoesOn(t *testing.T) {
	for name, w := range dialects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) { survives(t, w, mutated(t, w.answer)) })
		})
	}
}

// The same of what was recorded.
func TestWhateverWasRecordedGoesOn(t *testing.T) {
	for dir, name := range map[string]string{
		"anthropic": "anthropic", "openai": "responses", "ollama": "ollama",
	} {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			files, err := filepath.Glob(filepath.Join(realdata.Dir(t, "cassettes", dir), "*.yml"))
			if err != nil {
				t.Fatal(err)
			}
			var answers []string
			for _, f := range files {
				for _, e := range llmtest.Cassette(t, f) {
					if e.Method == http.MethodPost && len(e.Body) < 16<<10 {
						answers = append(answers, string(e.Body))
					}
				}
			}
			rapid.Check(t, func(t *rapid.T) {
				survives(t, dialects[name], mutated(t, rapid.SampledFrom(answers).Draw(t, "recorded")))
			})
		})
	}
}

// mutated changes an answer here and there.
func mutated(t *rapid.T, answer string) string {
	end := "\n"
	if strings.Contains(answer, sep) {
		end = sep
	}
	lines := strings.SplitAfter(strings.TrimSuffix(answer, end), end)
	for range rapid.IntRange(1, 4).Draw(t, "changes") {
		if len(lines) == 0 {
			break
		}
		i := rapid.IntRange(0, len(lines)-1).Draw(t, "event")
		switch rapid.SampledFrom([]string{"drop", "repeat", "move", "value", "value", "value"}).Draw(t, "change") {
		case "drop":
			lines = slices.Delete(slices.Clone(lines), i, i+1)
		case "repeat":
			lines = slices.Insert(slices.Clone(lines), i, lines[i])
		case "move":
			j := rapid.IntRange(0, len(lines)-1).Draw(t, "with")
			lines[i], lines[j] = lines[j], lines[i]
		case "value":
			lines[i] = changed(t, lines[i])
		}
	}
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], "\n") + end
	}
	return strings.Join(lines, "")
}

// changed puts something else in the place of one value of an event.
func changed(t *rapid.T, line string) string {
	at := strings.IndexByte(line, '{')
	if at < 0 {
		return line
	}
	dec := json.NewDecoder(strings.NewReader(line[at:]))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return line
	}
	places := rapid.IntRange(0, values(v)-1).Draw(t, "place")
	raw := rapid.SampledFrom(odd).Draw(t, "value")
	var b bytes.Buffer
	write(&b, v, &places, raw)
	return line[:at] + b.String()
}

// odd are values that servers have sent, or might.
var odd = []string{
	`""`, `" "`, `null`, `0`, `1`, `-1`, `7`, `1e400`, `NaN`, `true`, `{}`, `[]`, `{"n":1e400}`, `{"n":1,"n":2}`,
	`"{\"n\":1e400}"`, `"{\"n\":NaN}"`, `"{\"n\":1,\"n\":2}"`, `"{\"n\":\"\\ud800\"}"`, `"[1]"`, `"{"`, `"null"`,
	`"\ud800"`, `"\u0000"`, "\"\xff\"", `"t1"`, `"` + strings.Repeat("x", 200) + `"`, `"a b/c"`, `"wait"`,
	`"text"`, `"thinking"`, `"tool_use"`, `"message"`, `"reasoning"`, `"function_call"`, `"length"`,
	`"` + strings.Repeat(`{\"a\":`, 200) + `1` + strings.Repeat(`}`, 200) + `"`,
	strings.Repeat(`{"a":`, 200) + `1` + strings.Repeat(`}`, 200),
}

// values is how many values a value has in it, itself included.
func values(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, m := range v {
			n += values(m)
		}
	case []any:
		for _, e := range v {
			n += values(e)
		}
	}
	return n
}

// write writes a value with raw in one place.
func write(b *bytes.Buffer, v any, place *int, raw string) {
	if *place--; *place == -1 {
		b.WriteString(raw)
		return
	}
	switch v := v.(type) {
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		for i, name := range names {
			fmt.Fprintf(b, "%s%q:", [2]string{"{", ","}[min(i, 1)], name)
			write(b, v[name], place, raw)
		}
		if len(names) == 0 {
			b.WriteByte('{')
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			write(b, e, place, raw)
		}
		b.WriteByte(']')
	default:
		data, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		b.Write(data)
	}
}
