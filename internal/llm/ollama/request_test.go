package ollama_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/llmtest"
	"github.com/git-jp/git-jp/internal/llm/ollama"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/git-jp/git-jp/internal/realdata"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

func user(parts ...llm.Part) llm.Message { return llm.Message{Role: llm.RoleUser, Parts: parts} }

func assistant(parts ...llm.Part) llm.Message {
	return llm.Message{Role: llm.RoleAssistant, Parts: parts}
}

func say(s string) llm.Part { return llm.Text{Text: s} }

func sent(t *testing.T, r *llm.Request) map[string]any {
	t.Helper()
	body, err := llmtest.Wire(t, wire.FormatOllama, model, r)
	if err != nil {
		t.Fatal(err)
	}
	return llmtest.Decoded(body)
}

func is(t *testing.T, what string, got any, want string) {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(want), &v); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(v, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestMessages(t *testing.T) {
	r := &llm.Request{
		System: []llm.SystemText{{Text: "s"}, {}, {Text: "t"}},
		Messages: []llm.Message{
			user(llm.Resource{URI: "file:///a", Text: "1"}, say("q"),
				llm.Resource{URI: "file:///i", MIME: "image/png", Bytes: []byte("I")},
				llm.Resource{URI: "z", MIME: "application/zip", Bytes: []byte("Z")}),
			assistant(llm.Reasoning{Text: "h"}, say("w"), llm.Call{ID: "c", Name: "a.b", Args: jsontext.Value(`{"k":1}`)}),
			assistant(llm.Call{ID: "c", Name: "d"}),
			user(say("and"), llm.Result{CallID: "c", Name: "a.b", Parts: []llm.Part{say("r")}},
				llm.Result{CallID: "c", Name: "d", Parts: []llm.Part{llm.Media{MIME: "image/png", Bytes: []byte("I")}}}),
			assistant(say(" ")), assistant(llm.Data{Value: jsontext.Value(`[1]`)}),
			user(llm.Resource{URI: "file:///b", Text: "2"}),
		},
	}
	is(t, "messages", sent(t, r)["messages"], `[
		{"role":"system","content":"s\n\nt"},
		{"role":"user","content":"<documents>\n  <document>\n    <index>0</index>\n    <source>file:///a</source>\n    <content>1</content>\n  </document>\n</documents>\n\nq\n\n[Attached file: file:///i]\n\n[resource z (application/zip, 1 bytes)]","images":["SQ=="]},
		{"role":"assistant","content":"w","thinking":"h","tool_calls":[
			{"id":"c","function":{"name":"a_b","arguments":{"k":1}}},{"id":"c_2","function":{"name":"d","arguments":{}}}]},
		{"role":"tool","content":"r","tool_name":"a_b","tool_call_id":"c"},
		{"role":"tool","content":"[image (image/png, 1 bytes)]","images":["SQ=="],"tool_name":"d","tool_call_id":"c_2"},
		{"role":"user","content":"and"},
		{"role":"assistant","content":"[1]"},
		{"role":"user","content":"<documents>\n  <document>\n    <index>1</index>\n    <source>file:///b</source>\n    <content>2</content>\n  </document>\n</documents>"}]`)
	r.Messages = []llm.Message{user(llm.Resource{URI: "p.pdf", MIME: "application/pdf", Bytes: []byte("P")})}
	_, err := llmtest.Wire(t, wire.FormatOllama, model, r)
	var unsupported *llm.UnsupportedError
	if !errors.As(err, &unsupported) || unsupported.Name != "p.pdf" {
		t.Errorf("a PDF ends with %v", err)
	}
}

func TestOptions(t *testing.T) {
	half, k := 0.5, 3
	r := &llm.Request{Messages: []llm.Message{user(say("q"))}, Tools: []llm.Tool{{Name: "x"}}}
	r.Choice.Mode = llm.ChoiceNone
	r.Params = llm.Params{
		MaxTokens: 5, Temperature: &half, TopP: &half, TopK: &k, Stop: []string{"END"},
		Other: map[string]jsontext.Value{"keep_alive": jsontext.Value(`"5m"`), "seed": jsontext.Value(`7`)},
	}
	body := sent(t, r)
	delete(body, "messages")
	is(t, "body", any(body), `{"model":"qwen","stream":true,"truncate":false,"shift":false,"keep_alive":"5m","options":{
		"num_predict":5,"temperature":0.5,"top_p":0.5,"top_k":3,"stop":["END"],"seed":7}}`)
}

func TestThink(t *testing.T) {
	for _, tt := range []struct {
		model  string
		params llm.ReasoningParams
		want   string
	}{
		{"qwen", llm.ReasoningParams{}, `null`},
		{"qwen", llm.ReasoningParams{Mode: llm.ReasoningOff}, `false`},
		{"qwen", llm.ReasoningParams{Mode: llm.ReasoningEffort, Effort: llm.EffortNone}, `false`},
		{"qwen", llm.ReasoningParams{Mode: llm.ReasoningEffort, Effort: llm.EffortLow}, `true`},
		{"gpt-oss:20b", llm.ReasoningParams{Mode: llm.ReasoningEffort, Effort: llm.EffortXLow}, `"low"`},
		{"gpt-oss:20b", llm.ReasoningParams{Mode: llm.ReasoningEffort, Effort: llm.EffortMedium}, `"medium"`},
		{"gpt-oss:20b", llm.ReasoningParams{Mode: llm.ReasoningEffort, Effort: llm.EffortMax}, `"high"`},
		{"gpt-oss:20b", llm.ReasoningParams{Mode: llm.ReasoningAuto}, `true`},
	} {
		r := &llm.Request{Messages: []llm.Message{user(say("q"))}}
		r.Params.Reasoning = tt.params
		named := func(at llm.Endpoint) llm.Model { return ollama.New(tt.model, at) }
		body, err := llmtest.Wire(t, wire.FormatOllama, named, r)
		if err != nil {
			t.Fatal(err)
		}
		is(t, tt.model, llmtest.Decoded(body)["think"], tt.want)
	}
}

// TestCannotThink checks that a model that cannot think answers without thinking.
func TestCannotThink(t *testing.T) {
	server := llmtest.Serve(t,
		llmtest.Reply{Status: 400, Body: []byte(`{"error":"\"qwen\" does not support thinking"}`)},
		llmtest.Reply{Body: append(lines("a"), done...)})
	r := &llm.Request{Messages: []llm.Message{user(say("q"))}}
	r.Params.Reasoning.Mode = llm.ReasoningAuto
	got := llmtest.Collect(model(server.Endpoint(t, wire.FormatOllama)).Stream(t.Context(), r))
	if got.Err != nil || got.Text() != "a" || len(server.Sent()) != 2 {
		t.Errorf("it says %q and ends with %v", got.Text(), got.Err)
	}
}

// TestWindow checks that the requested window is the size that the conversation needs, in powers of
// two.
func TestWindow(t *testing.T) {
	for _, tt := range []struct {
		bytes int
		want  string
	}{{100, `null`}, {5_000, `null`}, {6_000, `8192`}, {100_000, `65536`}} {
		r := &llm.Request{Messages: []llm.Message{user(say(strings.Repeat("x", tt.bytes)))}}
		options, _ := sent(t, r)["options"].(map[string]any)
		is(t, "num_ctx", options["num_ctx"], tt.want)
	}
}

// TestRefused checks that each request forbids the server to drop anything, that a window is
// requested again if the server counts more than was estimated, and that a second refusal, in the
// words of each version, is an overflow.
func TestRefused(t *testing.T) {
	r := &llm.Request{Messages: []llm.Message{user(say("q"))}}
	for _, said := range []string{
		"the input length exceeds the context length",
		"the prompt is longer than the context length currently available to the model",
		"request (5021 tokens) exceeds the available context size (4096 tokens), try increasing it",
	} {
		refusal := llmtest.Reply{Status: 400, Body: []byte(`{"error":"` + said + `"}`)}
		server := llmtest.Serve(t, refusal, refusal)
		got := llmtest.Collect(model(server.Endpoint(t, wire.FormatOllama)).Stream(t.Context(), r))
		var overflow *llm.OverflowError
		if !errors.As(got.Err, &overflow) {
			t.Errorf("%s: the error is %v", said, got.Err)
		}
		windows := []string{`null`, `8192`}
		if len(server.Sent()) != len(windows) {
			t.Fatalf("%s: sent %d requests", said, len(server.Sent()))
		}
		for i, s := range server.Sent() {
			body := llmtest.Decoded(s.Body)
			is(t, "truncate", body["truncate"], `false`)
			is(t, "shift", body["shift"], `false`)
			options, _ := body["options"].(map[string]any)
			is(t, "num_ctx", options["num_ctx"], windows[i])
		}
	}
	server := llmtest.Serve(t,
		llmtest.Reply{Status: 400, Body: []byte(`{"error":"the input length exceeds the context length"}`)},
		llmtest.Reply{Body: append(lines("a"), done...)}, llmtest.Reply{Body: append(lines("a"), done...)})
	m := model(server.Endpoint(t, wire.FormatOllama))
	for range 2 {
		if got := llmtest.Collect(m.Stream(t.Context(), r)); got.Err != nil || got.Text() != "a" {
			t.Errorf("it says %q and ends with %v", got.Text(), got.Err)
		}
	}
	if n := len(server.Sent()); n != 3 {
		t.Errorf("two answers took %d requests: the larger window was not kept", n)
	}
	r.Params.Other = map[string]jsontext.Value{"num_ctx": jsontext.Value(`4096`)}
	server = llmtest.Serve(t, llmtest.Reply{Status: 400, Body: []byte(`{"error":"exceeds the context length"}`)})
	_ = llmtest.Collect(model(server.Endpoint(t, wire.FormatOllama)).Stream(t.Context(), r))
	if n := len(server.Sent()); n != 1 {
		t.Errorf("a window that was set is requested %d times", n)
	}
}

func TestCallsAndStops(t *testing.T) {
	calls := `{"message":{"tool_calls":[{"function":{"name":"a_b","arguments":{"k":1}}},` +
		`{"id":"x","function":{"name":"c","arguments":{}}}]}}` + "\n"
	length := strings.Replace(done, `"stop"`, `"length"`, 1)
	ask := func(body string) llmtest.Transcript {
		at := llmtest.Serve(t, llmtest.Reply{Body: []byte(body)}).Endpoint(t, wire.FormatOllama)
		r := &llm.Request{
			Messages: []llm.Message{
				user(say("q")), assistant(llm.Call{ID: "1", Name: "c"}), user(llm.Result{CallID: "1"}),
			},
			Tools: []llm.Tool{{Name: "a.b"}},
		}
		return llmtest.Collect(model(at).Stream(t.Context(), r))
	}
	got := ask(string(lines("w")) + calls + done)
	if c := got.Calls(); len(c) != 2 || c[0].ID != "a_b_1" || c[0].Name != "a.b" ||
		string(c[0].Arguments) != `{"k":1}` || c[1].ID != "x" || got.Stop.Reason != llm.StopTools {
		t.Errorf("calls are %+v, stop %+v", c, got.Stop)
	}
	if want := (llm.Usage{Input: 7, Output: 5, Model: "qwen"}); got.Usage != want {
		t.Errorf("usage is %+v", got.Usage)
	}
	if got := ask(string(lines("w")) + length); got.Stop.Reason != llm.StopMaxTokens {
		t.Errorf("cut off, the stop is %+v", got.Stop)
	}
}

func TestCatalog(t *testing.T) {
	file := filepath.Join(realdata.Dir(t, "cassettes", "ollama"), "test_models.yml")
	named := func(name string) (llm.Info, error) {
		at := llmtest.Serve(t, llmtest.Script(llmtest.Cassette(t, file), nil)...).Endpoint(t, wire.FormatOllama)
		return ollama.New(name, at).Describe(t.Context())
	}
	want := llm.Info{
		ID: "ollama/qwen3.5:9b", Title: "qwen3.5:9b", Window: 262_144,
		Accepts: llm.Inputs{Images: true}, Reasoning: true, Tools: true,
	}
	if info, err := named("qwen3.5:9b"); err != nil || info != want {
		t.Errorf("%v, %+v", err, info)
	}
	if info, err := named("llama3"); err != nil || info.Window != 8192 || info.Tools {
		t.Errorf("%v, %+v", err, info)
	}
	if _, err := named("gone"); err == nil || !strings.Contains(err.Error(), "no model gone") {
		t.Errorf("%v", err)
	}
}

// TestOddMembers verifies that members of other types do not lose an answer, and that text beside an
// error is kept.
func TestOddMembers(t *testing.T) {
	ask := func(body string) llmtest.Transcript {
		at := llmtest.Serve(t, llmtest.Reply{Body: []byte(body)}).Endpoint(t, wire.FormatOllama)
		r := &llm.Request{Messages: []llm.Message{user(say("q"))}}
		return llmtest.Collect(model(at).Stream(t.Context(), r))
	}
	const ends = `,"done":true,"done_reason":"stop"}` + "\n"
	for _, body := range []string{
		`{"message":{"content":"Hi"},"error":null` + ends,
		`{"message":{"content":"Hi"},"error":""` + ends,
		`{"message":{"content":"Hi"},"done":true}` + "\n",
		`{"message":{"content":"Hi","tool_calls":"none"},"prompt_eval_count":"7"` + ends,
	} {
		if got := ask(body); got.Err != nil || got.Text() != "Hi" || got.Stop.Reason != llm.StopEnd {
			t.Errorf("%s: %q, %+v, error %v", body, got.Text(), got.Stop, got.Err)
		}
	}
	got := ask(`{"message":{"content":"Hi"},"error":"out of memory"}` + "\n")
	api, ok := errors.AsType[*llm.APIError](got.Err)
	if !ok || api.Message != "out of memory" || len(got.Deltas) != 2 {
		t.Errorf("%d deltas, error %v", len(got.Deltas), got.Err)
	}
}
