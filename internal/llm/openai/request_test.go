package openai_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/llmtest"
	"github.com/git-jp/git-jp/internal/llm/openai"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// sent returns the body that is sent for a request, or the error if nothing is sent.
func sent(t *testing.T, model string, r *llm.Request) (map[string]any, error) {
	t.Helper()
	s := llmtest.Serve(t, llmtest.Reply{Body: whole()})
	m := openai.New(model, s.Endpoint(t, wire.FormatResponses))
	got := llmtest.Collect(m.Stream(t.Context(), r))
	if len(s.Sent()) == 0 {
		return nil, got.Err
	}
	return llmtest.Decoded(s.Sent()[0].Body), got.Err
}

// lines returns the items of a body, one per line, shortened to the members that matter.
func lines(t *testing.T, body map[string]any) string {
	t.Helper()
	var b strings.Builder
	items, _ := body["input"].([]any)
	for _, x := range items {
		it, _ := x.(map[string]any)
		for _, k := range []string{
			"type", "role", "id", "phase", "call_id", "arguments", "content", "summary", "output",
			"encrypted_content",
		} {
			if v, ok := it[k]; ok {
				raw, err := json.Marshal(v)
				if err != nil {
					t.Fatal(err)
				}
				b.WriteString(strings.NewReplacer(`\"`, "", `"`, "", `\n`, "·", `\u003c`, "<", `\u003e`, ">").
					Replace(string(raw)) + " ")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func own(kv ...string) events.Metadata {
	var m events.Metadata
	for i := 0; i < len(kv); i += 2 {
		m = m.WithText(kv[i], kv[i+1])
	}
	return m
}

func thought(text, id, secret string) llm.Reasoning {
	return llm.Reasoning{Text: text, Metadata: own(llm.MetadataOpenAIItemID, id,
		llm.MetadataOpenAIEncrypted, secret)}
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
	message := llm.Text{Text: "Yes.", Metadata: own(llm.MetadataOpenAIItemID, "msg_1",
		llm.MetadataOpenAIPhase, "final_answer")}
	call := llm.Call{ID: "call_1", Name: "f", Args: jsontext.Value(`{"a": 1}`)}
	for name, c := range map[string]struct {
		messages []llm.Message
		want     string
	}{
		"own": {
			[]llm.Message{
				said("Q"),
				reply("openai/gpt-5", thought("so", "rs_1", "xyz=="), message),
				said("R"),
			},
			"message user Q \n" +
				"reasoning rs_1 [{text:so,type:summary_text}] xyz== \n" +
				"message assistant msg_1 final_answer [{annotations:[],text:Yes.,type:output_text}] \n" +
				"message user R \n",
		},
		"own, in messages of their own": {
			[]llm.Message{
				said("Q"),
				reply("", thought("", "rs_1", "x")), reply("", thought("", "rs_2", "y")), reply("", call),
				result("call_1", "done"),
			},
			"message user Q \nreasoning rs_1 [] x \nreasoning rs_2 [] y \n" +
				"function_call call_1 {a:1} \nfunction_call_output call_1 done \n",
		},
		"another provider's": {
			[]llm.Message{
				said("Q"),
				reply("anthropic/claude", thought("so", "rs_1", "xyz"), message),
				said("R"),
			},
			"message user Q \nmessage assistant <think>·so·</think>·· \n" +
				"message assistant Yes. \nmessage user R \n",
		},
		"what it led to is gone": {
			[]llm.Message{said("Q"), reply("", thought("so", "rs_1", "x")), said("R")},
			"message user Q \nmessage assistant <think>·so·</think>·· \nmessage user R \n",
		},
		"the reasoning is gone": {
			[]llm.Message{said("Q"), reply("", message), said("R")},
			"message user Q \nmessage assistant final_answer Yes. \nmessage user R \n",
		},
		"not encrypted": {
			[]llm.Message{said("Q"), reply("", thought("", "rs_1", ""), message), said("R")},
			"message user Q \nmessage assistant final_answer Yes. \nmessage user R \n",
		},
		"one reply twice": {
			[]llm.Message{
				said("Q"), reply("", thought("so", "rs_1", "x"), message), said("Q"),
				reply("", thought("so", "rs_1", "x"), message), said("R"),
			},
			"message user Q \nreasoning rs_1 [{text:so,type:summary_text}] x \n" +
				"message assistant msg_1 final_answer [{annotations:[],text:Yes.,type:output_text}] \n" +
				"message user Q \nmessage assistant <think>·so·</think>·· \n" +
				"message assistant final_answer Yes. \nmessage user R \n",
		},
		"ids that collide": {
			[]llm.Message{
				said("Q"), reply("", call), result("call_1", "a"), reply("", call), result("call_1", "b"),
			},
			"message user Q \nfunction_call call_1 {a:1} \nfunction_call_output call_1 a \n" +
				"function_call call_1_2 {a:1} \nfunction_call_output call_1_2 b \n",
		},
		"blank": {
			[]llm.Message{said("Q"), reply("", llm.Text{Text: " \n"}), said("  "), said("R")},
			"message user Q \nmessage user R \n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body, err := sent(t, "gpt-5", &llm.Request{Messages: c.messages})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, lines(t, body)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	parts := []llm.Part{
		llm.Resource{URI: "file:///a", Text: "A"},
		llm.Resource{URI: "p.png", MIME: "image/png", Bytes: []byte("png")},
		llm.Resource{URI: "file:///d/x.pdf", MIME: "application/pdf", Bytes: []byte("pdf")},
		llm.Text{Text: "What is it?"},
	}
	looked := llm.Message{Role: llm.RoleUser, Parts: []llm.Part{
		llm.Result{CallID: "c", Parts: []llm.Part{llm.Text{Text: "see"}, parts[1]}},
	}}
	body, err := sent(t, "gpt-5", &llm.Request{Messages: []llm.Message{
		{Role: llm.RoleUser, Parts: parts}, reply("", llm.Call{ID: "c", Name: "f"}), looked,
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := "message user [{text:<documents>·  <document>·    <index>0</index>·" +
		"    <source>file:///a</source>·    <content>A</content>·  </document>·</documents>," +
		"type:input_text},{text:[Attached file: p.png],type:input_text}," +
		"{detail:auto,image_url:data:image/png;base64,cG5n,type:input_image}," +
		"{text:[Attached file: file:///d/x.pdf],type:input_text}," +
		"{file_data:data:application/pdf;base64,cGRm,filename:x.pdf,type:input_file}] \n" +
		"message user What is it? \nfunction_call c {} \n" +
		"function_call_output c [{text:see,type:input_text}," +
		"{text:[Attached file: p.png],type:input_text}," +
		"{detail:auto,image_url:data:image/png;base64,cG5n,type:input_image}] \n"
	if diff := cmp.Diff(want, lines(t, body)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestUnsupported(t *testing.T) {
	t.Parallel()
	zip := llm.Message{Role: llm.RoleUser, Parts: []llm.Part{
		llm.Resource{URI: "file:///a.zip", MIME: "application/zip", Bytes: []byte("PK")},
	}}
	body, err := sent(t, "gpt-5", &llm.Request{Messages: []llm.Message{said("Look"), zip}})
	var unsupported *llm.UnsupportedError
	if !errors.As(err, &unsupported) || unsupported.Name != "file:///a.zip" || body != nil {
		t.Errorf("the error is %v, the body %v", err, body)
	}
	if body, err = sent(t, "gpt-5", &llm.Request{Messages: []llm.Message{zip, said("So?")}}); err != nil {
		t.Fatal(err)
	}
	if got := lines(t, body); !strings.Contains(got, "[resource file:///a.zip (application/zip, 2 bytes)]") {
		t.Errorf("earlier in the conversation: %s", got)
	}
}

func TestEffort(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model string
		p     llm.ReasoningParams
		want  string
	}{
		{"gpt-5-mini", llm.ReasoningParams{Mode: llm.ReasoningOff}, "minimal"},
		{"gpt-5.6", llm.ReasoningParams{Mode: llm.ReasoningOff}, "none"},
		{"gpt-5", llm.ReasoningParams{Mode: llm.ReasoningEffort, Effort: llm.EffortMax}, "high"},
		{"gpt-5.2", llm.ReasoningParams{Mode: llm.ReasoningEffort, Effort: llm.EffortMax}, "xhigh"},
		{"gpt-5.6-sol", llm.ReasoningParams{Mode: llm.ReasoningEffort, Effort: llm.EffortMax}, "max"},
		{"gpt-5.6", llm.ReasoningParams{Mode: llm.ReasoningEffort, Effort: llm.EffortXLow}, "low"},
		{"gpt-7", llm.ReasoningParams{Mode: llm.ReasoningBudget, Budget: 8192}, "medium"},
		{"gpt-5-pro", llm.ReasoningParams{Mode: llm.ReasoningEffort, Effort: llm.EffortLow}, "high"},
		{"o3-mini", llm.ReasoningParams{Mode: llm.ReasoningBudget, Budget: 99999}, "high"},
		{"gpt-4o", llm.ReasoningParams{Mode: llm.ReasoningEffort, Effort: llm.EffortHigh}, ""},
		{"gpt-5-chat-latest", llm.ReasoningParams{Mode: llm.ReasoningOff}, ""},
		{"gpt-5", llm.ReasoningParams{}, ""},
	} {
		r := hello()
		r.Params.Reasoning = c.p
		body, err := sent(t, c.model, r)
		if err != nil {
			t.Fatal(err)
		}
		reasoning, _ := body["reasoning"].(map[string]any)
		if got, _ := reasoning["effort"].(string); got != c.want {
			t.Errorf("%s with %+v reasons %q, want %q", c.model, c.p, got, c.want)
		}
	}
}

func TestParams(t *testing.T) {
	t.Parallel()
	half, ten := 0.5, 10
	r := hello()
	r.Params = llm.Params{
		MaxTokens: 100, Temperature: &half, TopK: &ten, Stop: []string{"END"},
		Other: map[string]jsontext.Value{"service_tier": jsontext.Value(`"flex"`)},
	}
	r.Choice = llm.ToolChoice{Mode: llm.ChoiceTool, Name: "f"}
	r.Tools = []llm.Tool{
		{Name: "f", Schema: jsontext.Value(`{"type":"object","properties":{"z":{"type":"string"},` +
			`"a":{"type":"string","format":"x"}},"required":["z"]}`)},
		{Name: "g"},
	}
	s := llmtest.Serve(t, llmtest.Reply{Body: whole()})
	m := openai.New("gpt-4o", s.Endpoint(t, wire.FormatResponses))
	if got := llmtest.Collect(m.Stream(t.Context(), r)); got.Err != nil {
		t.Fatal(got.Err)
	}
	raw := s.Sent()[0].Body
	for _, want := range []string{
		`"max_output_tokens":100`, `"temperature":0.5`, `"service_tier":"flex"`,
		`"tool_choice":{"name":"f","type":"function"}`,
		`{"z":{"type":"string"},"a":`, // in the order of the schema
		`"strict":false`, `"strict":true`, `"store":false`,
	} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("no %s in %s", want, raw)
		}
	}
	if strings.Contains(string(raw), "top_k") || strings.Contains(string(raw), "stop") {
		t.Errorf("what this format does not have is in %s", raw)
	}
}

// TestBreakpoints checks that at most four breakpoints are sent, the last ones, and only to models
// that support them.
func TestBreakpoints(t *testing.T) {
	t.Parallel()
	r := &llm.Request{System: []llm.SystemText{{Text: "S", Breakpoint: true}}}
	for range 5 {
		q := said("Q")
		q.Breakpoint = true
		r.Messages = append(r.Messages, q, reply("", llm.Text{Text: "A"}))
	}
	r.Messages = append(r.Messages, said("R"))
	for model, want := range map[string]int{"gpt-5.6": 4, "gpt-5": 0} {
		body, err := sent(t, model, r)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(raw), "prompt_cache_breakpoint"); n != want {
			t.Errorf("%s has %d breakpoints, want %d", model, n, want)
		}
	}
}

// TestStrict checks that only schemas that the provider can enforce are sent as strict; it refuses
// the others.
func TestStrict(t *testing.T) {
	t.Parallel()
	const closed = `"required":["a"],"additionalProperties":false`
	for schema, want := range map[string]bool{
		`{"type":"object","properties":{"a":{"type":"string"}},` + closed + `}`:                          true,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`:                        false,
		`{"type":"object","properties":{"a":{}},"additionalProperties":false}`:                           false,
		`{"type":"object","properties":{"a":{"format":"x"}},` + closed + `}`:                             false,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object"}}},` + closed + `}`: false,
		`{"type":"object","properties":{"a":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/b"}]}},` +
			`"$defs":{"b":{"type":"object","properties":{},"additionalProperties":false}},` + closed + `}`: true,
		`{"anyOf":[{"type":"object"}],"type":"object","properties":{"a":{}},` + closed + `}`: false,
	} {
		r := hello()
		r.Schema = jsontext.Value(schema)
		body, err := sent(t, "gpt-5", r)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(body["text"])
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(raw), `"strict":true`); got != want {
			t.Errorf("%s is enforced: %v, want %v", schema, got, want)
		}
	}
}
