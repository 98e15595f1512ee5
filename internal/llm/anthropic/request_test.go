package anthropic_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/llmtest"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

const haiku, opus, newest = "claude-haiku-4-5", "claude-opus-4-6", "claude-opus-5"

func user(parts ...llm.Part) llm.Message { return llm.Message{Role: llm.RoleUser, Parts: parts} }

func assistant(model string, parts ...llm.Part) llm.Message {
	return llm.Message{Role: llm.RoleAssistant, Model: model, Parts: parts}
}

func say(s string) llm.Part { return llm.Text{Text: s} }

func call(id, name string) llm.Part { return llm.Call{ID: id, Name: name} }

func result(id, text string) llm.Part {
	return llm.Result{CallID: id, Parts: []llm.Part{llm.Text{Text: text}}}
}

func thought(text, signature string) llm.Part {
	var md events.Metadata
	return llm.Reasoning{Text: text, Metadata: md.WithText(llm.MetadataAnthropicSignature, signature)}
}

func redacted(data string) llm.Part {
	var md events.Metadata
	return llm.Reasoning{Metadata: md.WithText(llm.MetadataAnthropicRedacted, data)}
}

// sent returns the body for a request to a model.
func sent(t *testing.T, name string, r *llm.Request) map[string]any {
	t.Helper()
	body, err := llmtest.Wire(t, wire.FormatAnthropic, model(name), r)
	if err != nil {
		t.Fatal(err)
	}
	return llmtest.Decoded(body)
}

// is compares a part of a body with JSON.
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

func uncached(messages ...llm.Message) *llm.Request {
	return &llm.Request{Messages: messages, Cache: llm.CachePolicy{Off: true}}
}

func TestMessages(t *testing.T) {
	const own = "anthropic/" + haiku
	for name, tt := range map[string]struct {
		model    string
		messages []llm.Message
		want     string
	}{
		"results come first, neighbours merge, ids are mapped": {haiku, []llm.Message{
			user(say("q")),
			assistant(own, say("w"), llm.Call{ID: "a.1", Name: "x.y", Args: jsontext.Value(`{"k":1.50}`)}),
			assistant(own, call("a.1", "x.y"), say(" ")),
			user(say("and"), result("a.1", "1")), user(result("a.1", "")),
		}, `[
			{"role":"user","content":[{"type":"text","text":"q"}]},
			{"role":"assistant","content":[{"type":"text","text":"w"},
				{"type":"tool_use","id":"a_1","name":"x_y","input":{"k":1.5}},
				{"type":"tool_use","id":"a_1_2","name":"x_y","input":{}}]},
			{"role":"user","content":[
				{"type":"tool_result","tool_use_id":"a_1","is_error":false,"content":[{"type":"text","text":"1"}]},
				{"type":"tool_result","tool_use_id":"a_1_2","is_error":false},
				{"type":"text","text":"and"}]}]`},
		"own thinking goes back, in order, empty text included": {haiku, []llm.Message{
			user(say("q")), assistant(own, thought("", "S+/="), redacted("D"), thought("x", "T"), say("a")), user(say("r")),
		}, `[
			{"role":"user","content":[{"type":"text","text":"q"}]},
			{"role":"assistant","content":[
				{"type":"thinking","thinking":"","signature":"S+/="},{"type":"redacted_thinking","data":"D"},
				{"type":"thinking","thinking":"x","signature":"T"},{"type":"text","text":"a"}]},
			{"role":"user","content":[{"type":"text","text":"r"}]}]`},
		"another release of the model is the same model": {"claude-haiku-4-5-20251001", []llm.Message{
			user(say("q")), assistant(own, thought("x", "S"), say("a")), user(say("r")),
		}, `[
			{"role":"user","content":[{"type":"text","text":"q"}]},
			{"role":"assistant","content":[
				{"type":"thinking","thinking":"x","signature":"S"},{"type":"text","text":"a"}]},
			{"role":"user","content":[{"type":"text","text":"r"}]}]`},
		"another model's thinking is told": {haiku, []llm.Message{
			user(say("q")), assistant("anthropic/"+opus, thought("x", "S"), redacted("D"), say("a")),
			user(say("r")), assistant("openai/gpt-5", thought("y", "S"), say("b")), user(say("s")),
		}, `[
			{"role":"user","content":[{"type":"text","text":"q"}]},
			{"role":"assistant","content":[
				{"type":"text","text":"<think>\nx\n</think>\n\n"},{"type":"text","text":"a"}]},
			{"role":"user","content":[{"type":"text","text":"r"}]},
			{"role":"assistant","content":[
				{"type":"text","text":"<think>\ny\n</think>\n\n"},{"type":"text","text":"b"}]},
			{"role":"user","content":[{"type":"text","text":"s"}]}]`},
		"an empty signature is none": {haiku, []llm.Message{
			user(say("q")), assistant(own, thought("x", ""), redacted(""), say("a")), user(say("r")),
		}, `[
			{"role":"user","content":[{"type":"text","text":"q"}]},
			{"role":"assistant","content":[
				{"type":"text","text":"<think>\nx\n</think>\n\n"},{"type":"text","text":"a"}]},
			{"role":"user","content":[{"type":"text","text":"r"}]}]`},
		"nor is one beside a secret": {haiku, []llm.Message{
			user(say("q")), assistant(own, llm.Reasoning{Text: "x", Metadata: events.Metadata{}.
				WithText(llm.MetadataAnthropicRedacted, "").
				WithText(llm.MetadataAnthropicSignature, "S")}, say("a")), user(say("r")),
		}, `[
			{"role":"user","content":[{"type":"text","text":"q"}]},
			{"role":"assistant","content":[
				{"type":"thinking","thinking":"x","signature":"S"},{"type":"text","text":"a"}]},
			{"role":"user","content":[{"type":"text","text":"r"}]}]`},
		"thinking does not end a message": {haiku, []llm.Message{
			user(say("q")), assistant(own, thought("x", "S"), redacted("D")),
			user(say("r")), assistant(own, redacted("D")), user(say("s")),
		}, `[
			{"role":"user","content":[{"type":"text","text":"q"}]},
			{"role":"assistant","content":[{"type":"text","text":"<think>\nx\n</think>\n\n"}]},
			{"role":"user","content":[{"type":"text","text":"r"}]},
			{"role":"assistant","content":[{"type":"text","text":"…"}]},
			{"role":"user","content":[{"type":"text","text":"s"}]}]`},
		"resources and media": {haiku, []llm.Message{
			user(llm.Resource{URI: "file:///a", Title: "A", Description: "b", Text: "t"},
				llm.Resource{URI: "file:///e", Text: ""},
				llm.Resource{URI: "file:///p", MIME: "application/pdf", Bytes: []byte("P")},
				llm.Media{MIME: "image/jpg", Bytes: []byte("I")}, llm.Media{MIME: "application/pdf", Bytes: []byte("P")}),
			assistant(own, call("1", "x")),
			user(llm.Result{CallID: "1", IsError: true, Parts: []llm.Part{
				llm.Resource{URI: "file:///a", Text: "t"},
				llm.Resource{URI: "file:///i", MIME: "image/png", Bytes: []byte("I")},
				llm.Resource{URI: "file:///z", MIME: "application/zip", Bytes: []byte("Z")},
				llm.Media{MIME: "audio/wav", Bytes: []byte("W")},
			}}),
		}, `[
			{"role":"user","content":[
				{"type":"document","title":"file:///a","context":"A: b","source":{"type":"text","media_type":"text/plain","data":"t"}},
				{"type":"document","title":"file:///e","source":{"type":"text","media_type":"text/plain","data":"(empty)"}},
				{"type":"document","title":"file:///p","source":{"type":"base64","media_type":"application/pdf","data":"UA=="}},
				{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"SQ=="}},
				{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"UA=="}}]},
			{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"x","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","is_error":true,"content":[
				{"type":"document","title":"file:///a","source":{"type":"text","media_type":"text/plain","data":"t"}},
				{"type":"document","title":"file:///i","source":{"type":"content","content":[
					{"type":"image","source":{"type":"base64","media_type":"image/png","data":"SQ=="}}]}},
				{"type":"text","text":"[resource file:///z (application/zip, 1 bytes)]"},
				{"type":"text","text":"[audio (audio/wav, 1 bytes)]"}]}]}]`},
		"what was attached earlier is no obstacle": {haiku, []llm.Message{
			user(llm.Resource{URI: "file:///z", MIME: "application/zip", Bytes: []byte("Z")}),
			assistant(own, llm.Data{Value: jsontext.Value(`{"a":1}`)}), user(say("r")),
		}, `[
			{"role":"user","content":[{"type":"text","text":"[resource file:///z (application/zip, 1 bytes)]"}]},
			{"role":"assistant","content":[{"type":"text","text":"{\"a\":1}"}]},
			{"role":"user","content":[{"type":"text","text":"r"}]}]`},
	} {
		t.Run(name, func(t *testing.T) {
			is(t, "messages", sent(t, tt.model, uncached(tt.messages...))["messages"], tt.want)
		})
	}
}

func TestUnsupported(t *testing.T) {
	r := uncached(user(say("q"), llm.Resource{URI: "scan.tiff", MIME: "image/tiff", Bytes: []byte("T")}))
	_, err := llmtest.Wire(t, wire.FormatAnthropic, model(haiku), r)
	var unsupported *llm.UnsupportedError
	if !errors.As(err, &unsupported) || unsupported.Name != "scan.tiff" {
		t.Errorf("a TIFF ends with %v", err)
	}
}

// TestInvalidIsNotSent checks that a request that the provider would refuse is not sent.
func TestInvalidIsNotSent(t *testing.T) {
	r := uncached(user(say("q")), assistant("", call("1", "x")), user(say("r")))
	_, err := llmtest.Wire(t, wire.FormatAnthropic, model(haiku), r)
	var invalid *wire.InvalidError
	if !errors.As(err, &invalid) || len(invalid.Violations) == 0 {
		t.Errorf("a call without a result ends with %v", err)
	}
}

func TestThinking(t *testing.T) {
	effort := func(e llm.Effort) llm.ReasoningParams {
		return llm.ReasoningParams{Mode: llm.ReasoningEffort, Effort: e}
	}
	budget := func(n int) llm.ReasoningParams {
		return llm.ReasoningParams{Mode: llm.ReasoningBudget, Budget: n}
	}
	for _, tt := range []struct {
		model        string
		params       llm.ReasoningParams
		think, effor string
	}{
		{haiku, llm.ReasoningParams{}, `null`, `null`},
		{haiku, llm.ReasoningParams{Mode: llm.ReasoningOff}, `{"type":"disabled"}`, `null`},
		{haiku, effort(llm.EffortNone), `{"type":"disabled"}`, `null`},
		{haiku, effort(llm.EffortLow), `{"type":"enabled","budget_tokens":12800,"display":"summarized"}`, `null`},
		{haiku, effort(llm.EffortMax), `{"type":"enabled","budget_tokens":60800,"display":"summarized"}`, `null`},
		{haiku, budget(1), `{"type":"enabled","budget_tokens":1024,"display":"summarized"}`, `null`},
		{haiku, budget(1e6), `{"type":"enabled","budget_tokens":63999,"display":"summarized"}`, `null`},
		{
			haiku,
			llm.ReasoningParams{Mode: llm.ReasoningAuto, Exclude: true},
			`{"type":"enabled","budget_tokens":32000,"display":"omitted"}`, `null`,
		},
		{opus, budget(5000), `{"type":"enabled","budget_tokens":5000,"display":"summarized"}`, `null`},
		{opus, effort(llm.EffortXHigh), `{"type":"adaptive","display":"summarized"}`, `"max"`},
		{newest, effort(llm.EffortXHigh), `{"type":"adaptive","display":"summarized"}`, `"xhigh"`},
		{newest, effort(llm.EffortXLow), `{"type":"adaptive","display":"summarized"}`, `"low"`},
		{newest, budget(128_000), `{"type":"adaptive","display":"summarized"}`, `"max"`},
		{newest, budget(1024), `{"type":"adaptive","display":"summarized"}`, `"low"`},
		{newest, llm.ReasoningParams{Mode: llm.ReasoningAuto, Exclude: true}, `{"type":"adaptive","display":"omitted"}`, `null`},
		{"claude-3-haiku-20240307", effort(llm.EffortHigh), `null`, `null`},
		{"claude-opus-7", effort(llm.EffortHigh), `{"type":"adaptive","display":"summarized"}`, `"high"`},
	} {
		r := uncached(user(say("q")))
		r.Params.Reasoning = tt.params
		body := sent(t, tt.model, r)
		is(t, tt.model+" thinking", body["thinking"], tt.think)
		config, _ := body["output_config"].(map[string]any)
		is(t, tt.model+" effort", config["effort"], tt.effor)
	}
}

// TestThinkingInAnOpenCycle checks that thinking with a budget is turned off after calls that were
// made without thinking, which the provider refuses.
func TestThinkingInAnOpenCycle(t *testing.T) {
	const own = "anthropic/" + haiku
	for name, tt := range map[string]struct {
		said []llm.Part
		want string
	}{
		"with":    {[]llm.Part{thought("x", "S"), call("1", "x")}, "enabled"},
		"without": {[]llm.Part{call("1", "x")}, "disabled"},
		"foreign": {[]llm.Part{llm.Reasoning{Text: "x"}, call("1", "x")}, "disabled"},
	} {
		for how, last := range map[string][]llm.Message{
			"open": {user(result("1", "r"))}, "with a word": {user(result("1", "r")), user(say("w"))},
			"closed": {user(result("1", "r")), assistant(own, say("a")), user(say("next"))},
		} {
			r := uncached(append([]llm.Message{user(say("q")), assistant(own, tt.said...)}, last...)...)
			r.Params.Reasoning = llm.ReasoningParams{Mode: llm.ReasoningEffort, Effort: llm.EffortLow}
			want := tt.want
			if how == "closed" {
				want = "enabled"
			}
			got := sent(t, haiku, r)["thinking"].(map[string]any)["type"]
			if got != want {
				t.Errorf("%s, %s: thinking is %v, want %s", name, how, got, want)
			}
		}
	}
}

func TestChoice(t *testing.T) {
	for name, tt := range map[string]struct {
		tools  int
		choice llm.ToolChoice
		think  bool
		want   string
		system bool
	}{
		"no tools":           {0, llm.ToolChoice{Mode: llm.ChoiceRequired}, false, `null`, false},
		"auto":               {2, llm.ToolChoice{}, false, `{"type":"auto","disable_parallel_tool_use":false}`, false},
		"none":               {2, llm.ToolChoice{Mode: llm.ChoiceNone}, false, `{"type":"none"}`, false},
		"required":           {2, llm.ToolChoice{Mode: llm.ChoiceRequired}, false, `{"type":"any","disable_parallel_tool_use":false}`, false},
		"named":              {2, llm.ToolChoice{Mode: llm.ChoiceTool, Name: "t.1"}, false, `{"type":"tool","name":"t_1","disable_parallel_tool_use":false}`, false},
		"named, the only":    {1, llm.ToolChoice{Mode: llm.ChoiceTool, Name: "t.0"}, false, `{"type":"any","disable_parallel_tool_use":false}`, false},
		"required, thinking": {2, llm.ToolChoice{Mode: llm.ChoiceRequired}, true, `{"type":"auto","disable_parallel_tool_use":false}`, true},
		"named, thinking":    {2, llm.ToolChoice{Mode: llm.ChoiceTool, Name: "t.1"}, true, `{"type":"auto","disable_parallel_tool_use":false}`, true},
	} {
		r := uncached(user(say("q")))
		r.Choice = tt.choice
		for i := range tt.tools {
			r.Tools = append(r.Tools, llm.Tool{Name: fmt.Sprintf("t.%d", i)})
		}
		if tt.think {
			r.Params.Reasoning.Mode = llm.ReasoningAuto
		}
		body := sent(t, haiku, r)
		is(t, name, body["tool_choice"], tt.want)
		if told := body["system"] != nil; told != tt.system {
			t.Errorf("%s: told in words: %v", name, told)
		}
	}
}

func TestSampling(t *testing.T) {
	half, k := 0.5, 3
	r := uncached(user(say("q")))
	r.Params = llm.Params{
		MaxTokens: 77, Temperature: &half, TopP: &half, TopK: &k, Stop: []string{"END"},
		Other: map[string]jsontext.Value{"service_tier": jsontext.Value(`"auto"`)},
	}
	body := sent(t, haiku, r)
	delete(body, "messages")
	is(t, "body", any(body), `{"model":"claude-haiku-4-5","max_tokens":77,"temperature":0.5,
		"top_k":3,"stop_sequences":["END"],"stream":true,"service_tier":"auto"}`)
	body = sent(t, newest, r)
	if body["temperature"] != nil || body["top_k"] != nil {
		t.Error("the newest models take no temperature")
	}
	r.Params.Temperature, r.Params.MaxTokens = nil, 4096
	if sent(t, haiku, r)["top_p"] != 0.5 {
		t.Error("top_p is lost")
	}
	r.Params.Reasoning.Mode = llm.ReasoningAuto
	if body = sent(t, haiku, r); body["top_p"] != nil || body["top_k"] != nil {
		t.Error("a model that thinks takes no top_p")
	}
}

func TestOutputSchema(t *testing.T) {
	r := uncached(user(say("q")))
	r.Schema = jsontext.Value(`{"$schema":"x","type":"object","$defs":{"d":{"type":"string","maxLength":3}},
		"properties":{"a":{"type":"array","minItems":1,"maxItems":2,"description":"list","items":{"type":"integer","minimum":1.50}},
		"minimum":{"anyOf":[{"type":"object","properties":{}},{"type":"null"}]}}}`)
	config, _ := sent(t, haiku, r)["output_config"].(map[string]any)
	is(t, "schema", any(config), `{"format":{"type":"json_schema","schema":{
		"type":"object","additionalProperties":false,
		"$defs":{"d":{"type":"string","description":"{maxLength: 3}"}},
		"properties":{
			"a":{"type":"array","minItems":1,"description":"list\n\n{maxItems: 2}","items":{"type":"integer","description":"{minimum: 1.50}"}},
			"minimum":{"anyOf":[{"type":"object","properties":{},"additionalProperties":false},{"type":"null"}]}}}}}`)
	r.Schema = jsontext.Value(`{`)
	if _, err := llmtest.Wire(t, wire.FormatAnthropic, model(haiku), r); err == nil {
		t.Error("a schema that is no JSON is sent")
	}
}

func TestHeaders(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "from the environment")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Evil: yes")
	server := llmtest.Serve(t, llmtest.Reply{Body: reply("end_turn", text("a")...)})
	at := server.Endpoint(t, wire.FormatAnthropic)
	at.UserAgent = "git-jp/1"
	answer := llmtest.Collect(model(haiku)(at).Stream(t.Context(), uncached(user(say("q")))))
	if answer.Err != nil {
		t.Fatal(answer.Err)
	}
	h := server.Sent()[0].Header
	for name, want := range map[string]string{
		"X-Api-Key": "key", "User-Agent": "git-jp/1", "X-Evil": "", "Authorization": "", "Anthropic-Version": "2023-06-01",
	} {
		if got := h.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestPrefixIsStable checks that a longer conversation has the earlier request as its prefix,
// except for breakpoints, which are not content.
func TestPrefixIsStable(t *testing.T) {
	const own = "anthropic/" + haiku
	conversation := []llm.Message{
		user(llm.Resource{URI: "file:///a", Text: "t"}, say("q")),
		assistant(own, thought("x", "S"), call("1", "x"), call("1", "x")),
		user(result("1", "r"), result("1", "s")),
		assistant(own, say("a")), user(say("q2")),
	}
	var before string
	for n := 1; n <= len(conversation); n += 2 {
		r := &llm.Request{Messages: conversation[:n], System: []llm.SystemText{{Text: "s"}}}
		body, err := llmtest.Wire(t, wire.FormatAnthropic, model(haiku), r)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(plain(t, body)["messages"])
		if err != nil {
			t.Fatal(err)
		}
		now := strings.TrimSuffix(string(raw), "]")
		if !strings.HasPrefix(now, before) {
			t.Errorf("%s\nis no beginning of\n%s", before, now)
		}
		before = now
	}
}
