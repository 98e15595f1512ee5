package chat_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/chat"
	"github.com/git-jp/git-jp/internal/llm/llmtest"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// sent returns the body that is sent for a request, or the error if nothing is sent.
func sent(t *testing.T, dialect, name string, r *llm.Request) (map[string]json.RawMessage, error) {
	t.Helper()
	s := llmtest.Serve(t, llmtest.Reply{Body: whole()})
	at := s.Endpoint(t, wire.FormatChat)
	at.Provider = dialect
	got := llmtest.Collect(chat.New(name, at).Stream(t.Context(), r))
	if len(s.Sent()) == 0 {
		return nil, got.Err
	}
	var body map[string]json.RawMessage
	if err := json.Unmarshal(s.Sent()[0].Body, &body); err != nil {
		t.Fatal(err)
	}
	return body, got.Err
}

// messages returns the messages of a body, one per line.
func messages(t *testing.T, body map[string]json.RawMessage) string {
	t.Helper()
	var list []json.RawMessage
	if err := json.Unmarshal(body["messages"], &list); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, m := range list {
		b.Write(m)
		b.WriteString("\n")
	}
	return b.String()
}

func reply(model string, parts ...llm.Part) llm.Message {
	return llm.Message{Role: llm.RoleAssistant, Model: model, Parts: parts}
}

func result(id, text string) llm.Message {
	return llm.Message{Role: llm.RoleUser, Parts: []llm.Part{
		llm.Result{CallID: id, Parts: []llm.Part{llm.Text{Text: text}}},
	}}
}

func TestReplay(t *testing.T) {
	t.Parallel()
	thought, text := llm.Reasoning{Text: "so"}, llm.Text{Text: "A"}
	call := llm.Call{ID: "call_1", Name: "f", Args: jsontext.Value(`{"a": 1}`)}
	const (
		q     = `{"content":"Q","role":"user"}` + "\n"
		r     = `{"content":"R","role":"user"}` + "\n"
		calls = `"tool_calls":[{"id":"call_1","function":{"arguments":"{\"a\":1}","name":"f"},"type":"function"}]`
		tool  = `{"content":"done","tool_call_id":"call_1","role":"tool"}` + "\n"
	)
	open := []llm.Message{said("Q"), reply("", thought), reply("", text, call), result("call_1", "done")}
	for name, c := range map[string]struct {
		dialect  string
		messages []llm.Message
		want     string
	}{
		"open cycle": {
			chat.DeepSeek, open,
			q + `{"content":"A",` + calls + `,"role":"assistant","reasoning_content":"so"}` + "\n" + tool,
		},
		"turn with calls": {
			chat.DeepSeek,
			append(append([]llm.Message{}, open...), reply("", text), said("R")),
			q + `{"content":"A",` + calls + `,"role":"assistant","reasoning_content":"so"}` + "\n" + tool +
				`{"content":"A","role":"assistant","reasoning_content":""}` + "\n" + r,
		},
		"turn without calls": {
			chat.DeepSeek,
			[]llm.Message{said("Q"), reply("", thought, text), said("R")},
			q + `{"content":"A","role":"assistant"}` + "\n" + r,
		},
		"another provider's": {
			"moonshot",
			[]llm.Message{said("Q"), reply("anthropic/x", thought, text, call), result("call_1", "done")},
			q + `{"content":"A",` + calls + `,"role":"assistant"}` + "\n" + tool,
		},
		"always": {
			chat.Cerebras,
			[]llm.Message{said("Q"), reply("anthropic/x", thought, text), said("R")},
			q + `{"content":"A","role":"assistant","reasoning":"so"}` + "\n" + r,
		},
		"never": {
			chat.LMStudio, open,
			q + `{"content":"A",` + calls + `,"role":"assistant"}` + "\n" + tool,
		},
		"neighbours": {
			chat.LlamaCPP,
			[]llm.Message{said("Q"), reply("", thought), said("R"), said(" ")},
			`{"content":"Q\n\nR","role":"user"}` + "\n",
		},
		"user after tool": {
			chat.Mistral,
			[]llm.Message{
				said("Q"), reply("", llm.Call{ID: "abcdefgh1", Name: "f"}), result("abcdefgh1", ""), said("R"),
			},
			q + `{"tool_calls":[{"id":"abcdefgh1","function":{"arguments":"{}","name":"f"},` +
				`"type":"function"}],"role":"assistant"}` + "\n" +
				`{"content":"(empty)","tool_call_id":"abcdefgh1","role":"tool"}` + "\n" +
				`{"content":"…","role":"assistant"}` + "\n" + r,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body, err := sent(t, c.dialect, c.dialect+"-1", &llm.Request{Messages: c.messages})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, messages(t, body)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestModelsOfOthers checks that the rules of a model's template are kept on a server that runs
// another vendor's model; the check of every body knows them by the model's name.
func TestModelsOfOthers(t *testing.T) {
	t.Parallel()
	thought, text := llm.Reasoning{Text: "so"}, llm.Text{Text: "A"}
	call := llm.Call{ID: "call_1", Name: "f"}
	const calls = `"tool_calls":[{"id":"%s","function":{"arguments":"{}","name":"f"},"type":"function"}]`
	for name, c := range map[string]struct {
		dialect, model string
		messages       []llm.Message
		want           string // of the assistant
	}{
		"deepseek at home, no calls": {
			chat.LlamaCPP, "DeepSeek-R1-Q4.gguf",
			[]llm.Message{said("Q"), reply("", thought, text), said("R")},
			`{"content":"A","role":"assistant"}`,
		},
		"deepseek at home, calls": {
			chat.VLLM, "deepseek-ai/DeepSeek-V4",
			[]llm.Message{said("Q"), reply("", thought, call), result("call_1", "x"), said("R")},
			`{` + fmt.Sprintf(calls, "call_1") + `,"role":"assistant","reasoning_content":"so"}`,
		},
		"deepseek, calls of another": {
			chat.DeepSeek, "deepseek-v4-pro",
			[]llm.Message{said("Q"), reply("anthropic/x", thought, call), result("call_1", "x"), said("R")},
			`{` + fmt.Sprintf(calls, "call_1") + `,"role":"assistant","reasoning_content":""}`,
		},
		"mistral at home": {
			chat.LMStudio, "mistral-7b-instruct",
			[]llm.Message{said("Q"), reply("", call), result("call_1", "x"), said("R")},
			`{` + fmt.Sprintf(calls, shortID("call_1")) + `,"role":"assistant"}`,
		},
		"mistral handed on": {
			chat.OpenRouter, "mistralai/mistral-large",
			[]llm.Message{said("Q"), reply("", call), result("call_1", "x"), said("R")},
			`{` + fmt.Sprintf(calls, "call_1") + `,"role":"assistant"}`,
		},
		"mistral thinks": {
			chat.Mistral, "mistral-small-latest",
			[]llm.Message{said("Q"), reply("", thought, text, call), result("call_1", "x")},
			`{"content":[{"thinking":[{"text":"so","type":"text"}],"closed":true,"type":"thinking"},` +
				`{"text":"A","type":"text"}],` + fmt.Sprintf(calls, shortID("call_1")) + `,"role":"assistant"}`,
		},
		"another's thoughts are not Mistral's": {
			chat.Mistral, "mistral-small-latest",
			[]llm.Message{said("Q"), reply("anthropic/x", thought, text), said("R")},
			`{"content":"A","role":"assistant"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body, err := sent(t, c.dialect, c.model, &llm.Request{Messages: c.messages})
			if err != nil {
				t.Fatal(err)
			}
			if got := messages(t, body); !strings.Contains(got, c.want+"\n") {
				t.Errorf("no %s in\n%s", c.want, got)
			}
		})
	}
}

// shortID returns an id that Mistral accepts.
func shortID(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])[:9]
}

// TestShortIDs checks that shortened ids stay paired and unique.
func TestShortIDs(t *testing.T) {
	t.Parallel()
	body, err := sent(t, chat.Mistral, "m", &llm.Request{Messages: []llm.Message{
		said("Q"), reply("", llm.Call{ID: "call_1", Name: "f"}, llm.Call{ID: "call_2", Name: "f"}),
		result("call_1", "a"), result("call_2", "b"),
	}})
	if err != nil { // the checker verifies the pairs
		t.Fatal(err)
	}
	if got := messages(t, body); strings.Contains(got, `"call_`) {
		t.Errorf("sent %s", got)
	}
}

// TestDetails checks that OpenRouter's details are sent back unchanged, and stored under jp's keys.
func TestDetails(t *testing.T) {
	t.Parallel()
	s := llmtest.Serve(t, llmtest.Reply{Body: sse(
		delta(`{"content":"","reasoning":"Let me","reasoning_details":[{"type":"reasoning.text",`+
			`"text":"Let me","format":"anthropic-claude-v1","index":0,"new":{"b":1,"a":1.0}}]}`),
		delta(`{"content":"","reasoning":" see.","reasoning_details":[{"type":"reasoning.text",`+
			`"text":" see.","index":0}]}`),
		delta(`{"content":"Hi"}`),
		delta(`{"reasoning_details":[{"type":"reasoning.text","signature":"c2ln+/==","index":0},`+
			`{"type":"reasoning.encrypted","id":"tool_1","data":"x/y+==","format":"unknown","index":1}]}`),
		finish("stop"), usage, "[DONE]",
	)})
	m := model(t, chat.OpenRouter, s)
	got := llmtest.Collect(m.Stream(t.Context(), hello()))
	fine(t, got)
	if stored(got) != "1 Let me see.\n0 Hi\n" {
		t.Fatalf("stored %q", stored(got))
	}
	md := got.Ends[0].Metadata
	if sig, _ := md.Text(llm.MetadataAnthropicSignature); sig != "c2ln+/==" {
		t.Errorf("the signature is %q", sig)
	}
	// Nothing is stored twice.
	if kept, _ := md.Value(llm.MetadataOpenRouter); strings.Contains(string(kept), "Let me") ||
		strings.Contains(string(kept), "c2ln") {
		t.Errorf("the details are kept as %s", kept)
	}
	again := &llm.Request{Messages: []llm.Message{
		said("Q"), reply(m.ID(), llmtest.Replayed(got.Ends[0]), llmtest.Replayed(got.Ends[1])), said("R"),
	}}
	fine(t, llmtest.Collect(m.Stream(t.Context(), again)))
	want := `"reasoning_details":[{"format":"anthropic-claude-v1","index":0,"new":{"b":1,"a":1.0},` +
		`"signature":"c2ln+/==","text":"Let me see.","type":"reasoning.text"},{"data":"x/y+==",` +
		`"format":"unknown","id":"tool_1","index":1,"type":"reasoning.encrypted"}]`
	if body := string(s.Sent()[1].Body); !strings.Contains(body, want) {
		t.Errorf("no %s in %s", want, body)
	}
}

// TestDetailsOfSeveralTexts checks that each detail gets its own text back, and no detail gets
// another's if the text of the reasoning changed.
func TestDetailsOfSeveralTexts(t *testing.T) {
	t.Parallel()
	s := llmtest.Serve(t, llmtest.Reply{Body: sse(
		delta(`{"reasoning":"One.","reasoning_details":[{"type":"reasoning.text","text":"One.","index":0}]}`),
		delta(`{"reasoning":"Zwö","reasoning_details":[{"type":"reasoning.summary","summary":"Zwö","index":1}]}`),
		delta(`{"content":"Hi"}`), finish("stop"), usage, "[DONE]",
	)})
	m := model(t, chat.OpenRouter, s)
	got := llmtest.Collect(m.Stream(t.Context(), hello()))
	fine(t, got)
	if kept, _ := got.Ends[0].Metadata.Value(llm.MetadataOpenRouter); strings.Contains(string(kept), "One") {
		t.Errorf("the details are kept as %s", kept)
	}
	thoughts, ok := llmtest.Replayed(got.Ends[0]).(llm.Reasoning)
	if !ok || thoughts.Text != "One.Zwö" {
		t.Fatalf("thought %+v", thoughts)
	}
	less := thoughts
	less.Text = "One."
	for want, r := range map[string]llm.Reasoning{
		`"reasoning_details":[{"index":0,"text":"One.","type":"reasoning.text"},` +
			`{"index":1,"summary":"Zwö","type":"reasoning.summary"}]`: thoughts,
		`{"content":"A","role":"assistant"}`: less,
	} {
		body, err := sent(t, chat.OpenRouter, "anthropic/claude", &llm.Request{Messages: []llm.Message{
			said("Q"), reply("", r, llm.Text{Text: "A"}), said("R"),
		}})
		if err != nil {
			t.Fatal(err)
		}
		if got := messages(t, body); !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

// TestForeignDetails checks that reasoning from jp or a vendor is sent in OpenRouter's form, and
// that reasoning without a proof is not sent.
func TestForeignDetails(t *testing.T) {
	t.Parallel()
	md := func(kv ...string) (m events.Metadata) {
		for i := 0; i < len(kv); i += 2 {
			m = m.WithText(kv[i], kv[i+1])
		}
		return m
	}
	jp := md(llm.MetadataAnthropicSignature, "sig").With(llm.MetadataOpenRouter,
		jsontext.Value(`[{"index":0,"field":"anthropic_thinking_signature"},{"index":1,"field":"gone"}]`))
	for want, r := range map[string]llm.Reasoning{
		`"reasoning_details":[{"format":"anthropic-claude-v1","index":0,"signature":"sig","text":"so",` +
			`"type":"reasoning.text"}]`: {Text: "so", Metadata: jp},
		`"reasoning_details":[{"data":"enc","format":"openai-responses-v1","id":"rs_1",` +
			`"type":"reasoning.encrypted"}]`: {Metadata: md(llm.MetadataOpenAIEncrypted, "enc",
			llm.MetadataOpenAIItemID, "rs_1")},
		`{"content":"A","role":"assistant"}`: {Text: "so"},
		`{"content":"B","role":"assistant"}`: {Text: "so", Metadata: md(
			llm.MetadataAnthropicSignature, "", llm.MetadataOpenAIEncrypted, "",
			llm.MetadataAnthropicRedacted, "")},
		`[{"format":"anthropic-claude-v1","index":0,"text":"so","type":"reasoning.text"}]`: {
			Text: "so", Metadata: md().With(llm.MetadataOpenRouter, jsontext.Value(
				`[{"format":"anthropic-claude-v1","index":0,"signature":"","text":"so",`+
					`"type":"reasoning.text"},{"data":"","type":"reasoning.encrypted"}]`)),
		},
	} {
		body, err := sent(t, chat.OpenRouter, "anthropic/claude", &llm.Request{Messages: []llm.Message{
			said("Q"), reply("", r, llm.Text{Text: "A"}), said("R"), reply("", r, llm.Text{Text: "B"}), said("S"),
		}})
		if err != nil {
			t.Fatal(err)
		}
		if got := messages(t, body); !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	picture := llm.Resource{URI: "p.png", MIME: "image/png", Bytes: []byte("png")}
	pdf := llm.Resource{URI: "file:///d/x.pdf", MIME: "application/pdf", Bytes: []byte("pdf")}
	attached := llm.Message{Role: llm.RoleUser, Parts: []llm.Part{
		llm.Resource{URI: "file:///a", Text: "A"}, picture, pdf, llm.Text{Text: "What?"},
	}}
	body, err := sent(t, chat.OpenRouter, "m", &llm.Request{Messages: []llm.Message{attached}})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"content":[{"text":"<documents>\n  <document>\n    <index>0</index>\n` +
		`    <source>file:///a</source>\n    <content>A</content>\n  </document>\n</documents>",` +
		`"type":"text"},{"text":"[Attached file: p.png]","type":"text"},` +
		`{"image_url":{"url":"data:image/png;base64,cG5n"},"type":"image_url"},` +
		`{"text":"[Attached file: file:///d/x.pdf]","type":"text"},` +
		`{"file":{"file_data":"data:application/pdf;base64,cGRm","filename":"x.pdf"},"type":"file"},` +
		`{"text":"What?","type":"text"}],"role":"user"}` + "\n"
	got := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(messages(t, body))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for dialect, part := range map[string]llm.Part{chat.Cerebras: picture, chat.LlamaCPP: pdf} {
		now := llm.Message{Role: llm.RoleUser, Parts: []llm.Part{part}}
		body, err := sent(t, dialect, "m", &llm.Request{Messages: []llm.Message{now}})
		var unsupported *llm.UnsupportedError
		if !errors.As(err, &unsupported) || body != nil {
			t.Errorf("%s: the error is %v", dialect, err)
		}
		earlier := &llm.Request{Messages: []llm.Message{now, said("So?")}}
		if _, err := sent(t, dialect, "m", earlier); err != nil {
			t.Errorf("%s: earlier in the conversation: %v", dialect, err)
		}
	}
}

// TestLooks checks that images in results follow after the results.
func TestLooks(t *testing.T) {
	t.Parallel()
	seen := llm.Message{Role: llm.RoleUser, Parts: []llm.Part{
		llm.Result{CallID: "a12345678", Parts: []llm.Part{llm.Media{MIME: "image/png", Bytes: []byte("png")}}},
		llm.Result{CallID: "b12345678", Parts: []llm.Part{llm.Text{Text: "x"}}},
	}}
	const results = `{"content":"[image (image/png, 3 bytes)]","tool_call_id":"a12345678","role":"tool"}` +
		"\n" + `{"content":"x","tool_call_id":"b12345678","role":"tool"}` + "\n"
	const image = `{"content":[{"image_url":{"url":"data:image/png;base64,cG5n"},"type":"image_url"}],"role":"user"}`
	// If a user's message may not follow a tool's, one of the assistant is between.
	for dialect, want := range map[string]string{
		chat.VLLM:    results + image,
		chat.Mistral: results + `{"content":"…","role":"assistant"}` + "\n" + image,
	} {
		body, err := sent(t, dialect, "m", &llm.Request{Messages: []llm.Message{
			said("Q"), reply("", llm.Call{ID: "a12345678", Name: "f"}, llm.Call{ID: "b12345678", Name: "f"}), seen,
		}})
		if err != nil {
			t.Fatal(err)
		}
		if got := messages(t, body); !strings.Contains(got, want) {
			t.Errorf("%s: no %s in %s", dialect, want, got)
		}
	}
}

func TestReasoning(t *testing.T) {
	t.Parallel()
	off := llm.ReasoningParams{Mode: llm.ReasoningOff}
	high := llm.ReasoningParams{Mode: llm.ReasoningEffort, Effort: llm.EffortMax}
	budget := llm.ReasoningParams{Mode: llm.ReasoningBudget, Budget: 2000}
	for _, c := range []struct {
		dialect, member string
		p               llm.ReasoningParams
		want            string
	}{
		{chat.OpenRouter, "reasoning", llm.ReasoningParams{}, ""},
		{chat.OpenRouter, "reasoning", off, `{"effort":"minimal","exclude":true}`},
		{chat.OpenRouter, "reasoning", high, `{"effort":"xhigh"}`},
		{chat.OpenRouter, "reasoning", budget, `{"max_tokens":2000}`},
		{chat.DeepSeek, "thinking", off, `{"type":"disabled"}`},
		{chat.DeepSeek, "thinking", budget, `{"type":"enabled"}`},
		{chat.DeepSeek, "reasoning_effort", budget, `"low"`},
		{chat.DeepSeek, "reasoning_effort", high, `"max"`},
		{chat.DeepSeek, "reasoning_effort", off, ""},
		{chat.LlamaCPP, "chat_template_kwargs", off, `{"enable_thinking":false}`},
		{chat.LlamaCPP, "chat_template_kwargs", high, `{"enable_thinking":true,"reasoning_effort":"high"}`},
		{chat.Cerebras, "reasoning_effort", high, `"high"`},
		{chat.Cerebras, "reasoning_effort", off, `"none"`},
		{chat.Cerebras, "reasoning_effort", llm.ReasoningParams{}, ""},
		{chat.Cerebras, "reasoning_format", llm.ReasoningParams{}, `"parsed"`},
		{chat.LlamaCPP, "reasoning_format", off, `"deepseek"`},
		{chat.Mistral, "reasoning_effort", high, ""}, // of a model without this parameter
	} {
		r := hello()
		r.Params.Reasoning = c.p
		body, err := sent(t, c.dialect, "m", r)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(body[c.member]); got != c.want {
			t.Errorf("%s with %+v: %s is %s, want %s", c.dialect, c.p, c.member, got, c.want)
		}
	}
}

func TestParams(t *testing.T) {
	t.Parallel()
	half, k := 0.5, 40
	r := hello()
	r.System = []llm.SystemText{{Text: "S"}}
	r.Params = llm.Params{
		MaxTokens: 100, Temperature: &half, TopK: &k, Stop: []string{"X"},
		Other: map[string]jsontext.Value{"min_p": jsontext.Value("0.05")},
	}
	r.Choice = llm.ToolChoice{Mode: llm.ChoiceRequired}
	r.Tools = []llm.Tool{{Name: "a.b", Description: "D"}}
	body, err := sent(t, chat.Mistral, "m", r)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"max_tokens": "100", "temperature": "0.5", "top_k": "40", "stop": `["X"]`, "min_p": "0.05",
		"tool_choice": `"any"`, "stream_options": "",
		"messages": `[{"content":"S","role":"system"},{"content":"Hello?","role":"user"}]`,
		"tools": `[{"function":{"name":"a_b","description":"D","parameters":{"type":"object",` +
			`"properties":{}}},"type":"function"}]`,
	} {
		if got := string(body[name]); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// TestBreakpoints checks that breakpoints, up to four, are sent to models that support them.
func TestBreakpoints(t *testing.T) {
	t.Parallel()
	r := &llm.Request{System: []llm.SystemText{{Text: "S"}}}
	for range 5 {
		q := said("Q")
		q.Breakpoint = true
		r.Messages = append(r.Messages, q, reply("", llm.Text{Text: "A"}))
	}
	r.Messages = append(r.Messages, said("R"))
	r.Cache.TTL = time.Hour
	const mark = `"cache_control":{"ttl":"1h","type":"ephemeral"}`
	for name, want := range map[string]int{"anthropic/claude": 3, "google/gemini": 4, "meta/llama": 0} {
		body, err := sent(t, chat.OpenRouter, name, r)
		if err != nil {
			t.Fatal(err)
		}
		got := messages(t, body)
		if n := strings.Count(got, mark); n != want {
			t.Errorf("%s has %d breakpoints, want %d: %s", name, n, want, got)
		}
		if system := strings.Contains(got, `{"text":"S","type":"text",`+mark+`}`); system != (want > 0) {
			t.Errorf("%s: the system prompt in %s", name, got)
		}
		if _, automatic := body["cache_control"]; automatic != (want == 3) {
			t.Errorf("%s: an automatic breakpoint: %t", name, automatic)
		}
	}
}

// TestBreakpointAfterResults checks the breakpoint at the end of the last request, here a result:
// an entry is found only within some blocks before a breakpoint.
func TestBreakpointAfterResults(t *testing.T) {
	t.Parallel()
	body, err := sent(t, chat.OpenRouter, "anthropic/claude", &llm.Request{Messages: []llm.Message{
		said("Q"), reply("", llm.Call{ID: "a", Name: "f"}), result("a", "x"),
		reply("", llm.Text{Text: "A"}), said("R"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"content":[{"text":"x","type":"text","cache_control":{"type":"ephemeral"}}],"tool_call_id":"a","role":"tool"}`
	if got := messages(t, body); !strings.Contains(got, want) || strings.Count(got, "cache_control") != 1 {
		t.Errorf("no %s in %s", want, got)
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ dialect, suffix, want string }{
		{chat.OpenRouter, "", "/api/v1/chat/completions"},
		{chat.OpenRouter, "/api/v1/", "/api/v1/chat/completions"},
		{chat.DeepSeek, "/", "/v1/chat/completions"},
		{"other", "/openai/v1", "/openai/v1/chat/completions"},
		{"other", "", "/v1/chat/completions"},
		{"other", "/", "/v1/chat/completions"},
		{"other", "/endpoints/openapi", "/endpoints/openapi/chat/completions"},
		{"other", "/openai/deployments/d/?api-version=1", "/openai/deployments/d/chat/completions?api-version=1"},
		{chat.VLLM, "/proxy/", "/proxy/chat/completions"},
		{chat.Mistral, "/mistral", "/mistral/v1/chat/completions"},
	} {
		s := llmtest.Serve(t, llmtest.Reply{Body: whole()})
		at := s.Endpoint(t, wire.FormatChat)
		at.BaseURL += c.suffix
		at.Provider = c.dialect
		m := chat.New("m", at)
		fine(t, llmtest.Collect(m.Stream(t.Context(), hello())))
		got := s.Sent()[0]
		if got.Query != "" {
			got.Path += "?" + got.Query
		}
		if got := got.Path; got != c.want {
			t.Errorf("%s at %q is asked at %s, want %s", c.dialect, c.suffix, got, c.want)
		}
	}
}
