package gemini_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/llmtest"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// sent returns the body that is sent for a request, or the error if nothing is sent.
func sent(t *testing.T, name string, r *llm.Request) (map[string]json.RawMessage, error) {
	t.Helper()
	got, s := ask(t, name, r, llmtest.Reply{Body: sse(finish("STOP"))})
	if len(s.Sent()) == 0 {
		return nil, got.Err
	}
	var body map[string]json.RawMessage
	if err := json.Unmarshal(s.Sent()[0].Body, &body); err != nil {
		t.Fatal(err)
	}
	return body, got.Err
}

func TestBody(t *testing.T) {
	t.Parallel()
	half, k := 0.5, 40
	r := hello()
	r.System = []llm.SystemText{{Text: "S"}, {Text: "T"}}
	r.Params = llm.Params{
		MaxTokens: 100, Temperature: &half, TopP: &half, TopK: &k, Stop: []string{"X"},
		Other: map[string]jsontext.Value{"labels": jsontext.Value(`{"a":"b"}`)},
	}
	r.Tools = []llm.Tool{
		{Name: "a.b", Description: "D", Schema: jsontext.Value(`{"type":"object","properties":{"z":{},"a":{}}}`)},
		{Name: "c d"},
	}
	r.Choice = llm.ToolChoice{Mode: llm.ChoiceTool, Name: "c d"}
	body, err := sent(t, "gemini-2.5-flash", r)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"contents":          `[{"role":"user","parts":[{"text":"Hello?"}]}]`,
		"systemInstruction": `{"parts":[{"text":"S"},{"text":"T"}]}`,
		"generationConfig": `{"maxOutputTokens":100,"stopSequences":["X"],"temperature":0.5,` +
			`"thinkingConfig":{"includeThoughts":true},"topK":40,"topP":0.5}`,
		"tools": `[{"functionDeclarations":[{"name":"a.b","description":"D","parametersJsonSchema":` +
			`{"type":"object","properties":{"z":{},"a":{}}}},{"name":"c_d"}]}]`,
		"toolConfig": `{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["c_d"]}}`,
		"labels":     `{"a":"b"}`,
	}
	got := map[string]string{}
	for name, raw := range body {
		got[name] = string(raw)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestStructured(t *testing.T) {
	t.Parallel()
	r := hello()
	r.Schema = jsontext.Value(`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"}}}`)
	r.Tools = []llm.Tool{{Name: "f"}}
	r.Choice.Mode = llm.ChoiceNone
	got, s := ask(t, "gemini-2.5-flash", r, llmtest.Reply{
		Body: sse(parts(text(`{"z":`)), parts(text(`"x"}`)), finish("STOP")),
	})
	fine(t, got)
	if stored(got) != "2 {\"z\":\"x\"}\n" {
		t.Errorf("stored %q", stored(got))
	}
	body := string(s.Sent()[0].Body)
	want := `"responseMimeType":"application/json","responseJsonSchema":{"type":"object","properties":` +
		`{"z":{"type":"string"},"a":{"type":"string"}}}`
	if !strings.Contains(body, want) || strings.Contains(body, "functionDeclarations") {
		t.Errorf("no %s in %s", want, body)
	}
}

func TestThinking(t *testing.T) {
	t.Parallel()
	off := llm.ReasoningParams{Mode: llm.ReasoningOff}
	high := llm.ReasoningParams{Mode: llm.ReasoningEffort, Effort: llm.EffortHigh}
	medium := llm.ReasoningParams{Mode: llm.ReasoningEffort, Effort: llm.EffortMedium}
	budget := llm.ReasoningParams{Mode: llm.ReasoningBudget, Budget: 99999, Exclude: true}
	auto := llm.ReasoningParams{Mode: llm.ReasoningAuto}
	for _, c := range []struct {
		name string
		p    llm.ReasoningParams
		want string
	}{
		{"gemini-2.5-flash", off, `{"thinkingBudget":0}`},
		{"gemini-2.5-pro", off, `{"thinkingBudget":128}`},
		{"gemini-2.5-pro", high, `{"includeThoughts":true,"thinkingBudget":26214}`},
		{"gemini-2.5-flash", budget, `{"thinkingBudget":24576}`},
		{"gemini-2.5-flash", auto, `{"includeThoughts":true,"thinkingBudget":-1}`},
		{"gemini-3-pro", off, `{"thinkingLevel":"LOW"}`},
		{"gemini-3.5-flash", off, `{"thinkingLevel":"MINIMAL"}`},
		{"gemini-3.6-flash", off, `{"thinkingLevel":"MINIMAL"}`},
		{"gemini-3.7-flash", off, `{"thinkingLevel":"LOW"}`},
		{"gemini-3.8-flash-preview", off, `{"thinkingLevel":"LOW"}`},
		{"gemini-3.8-flash-lite", off, `{"thinkingLevel":"MINIMAL"}`},
		{"gemini-flash-latest", off, `{"thinkingLevel":"LOW"}`},
		{"gemini-flash-lite-latest", off, `{"thinkingLevel":"MINIMAL"}`},
		{"gemini-3-pro-preview", medium, `{"includeThoughts":true,"thinkingLevel":"HIGH"}`},
		{"gemini-3.1-pro-preview", medium, `{"includeThoughts":true,"thinkingLevel":"MEDIUM"}`},
		{"gemini-3-flash-preview", medium, `{"includeThoughts":true,"thinkingLevel":"MEDIUM"}`},
		{"gemini-3-pro", high, `{"includeThoughts":true,"thinkingLevel":"HIGH"}`},
		{"gemini-flash-latest", llm.ReasoningParams{}, `{"includeThoughts":true}`},
		{"gemini-2.0-flash", high, ``},
		{"gemma-3", high, ``},
	} {
		r := hello()
		r.Params.Reasoning = c.p
		body, err := sent(t, c.name, r)
		if err != nil {
			t.Fatal(err)
		}
		var config struct {
			Thinking json.RawMessage `json:"thinkingConfig"`
		}
		if raw := body["generationConfig"]; raw != nil {
			if err := json.Unmarshal(raw, &config); err != nil {
				t.Fatal(err)
			}
		}
		if got := string(config.Thinking); got != c.want {
			t.Errorf("%s with %+v thinks %s, want %s", c.name, c.p, got, c.want)
		}
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	picture := llm.Resource{URI: "p.png", MIME: "image/png", Bytes: []byte("png")}
	attached := llm.Message{Role: llm.RoleUser, Parts: []llm.Part{
		llm.Resource{URI: "file:///a", Text: "A"},
		picture,
		llm.Resource{URI: "file:///d/x.pdf", MIME: "application/pdf", Bytes: []byte("pdf")},
		llm.Text{Text: "What?"},
	}}
	seen := llm.Message{Role: llm.RoleUser, Parts: []llm.Part{
		llm.Result{CallID: "c", Parts: []llm.Part{llm.Media{MIME: "image/png", Bytes: []byte("png")}}},
	}}
	body, err := sent(t, "gemini-2.5-pro", &llm.Request{Messages: []llm.Message{
		attached, {Role: llm.RoleAssistant, Parts: []llm.Part{llm.Call{ID: "c", Name: "f"}}}, seen,
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"role":"user","parts":[{"text":"<documents>\n  <document>\n    <index>0</index>\n` +
		`    <source>file:///a</source>\n    <content>A</content>\n  </document>\n</documents>"},` +
		`{"text":"[Attached file: p.png]"},{"inlineData":{"mimeType":"image/png","data":"cG5n"}},` +
		`{"text":"[Attached file: file:///d/x.pdf]"},` +
		`{"inlineData":{"mimeType":"application/pdf","data":"cGRm"}},{"text":"What?"}]},` +
		`{"role":"model","parts":[{"functionCall":{"name":"f"}}]},{"role":"user","parts":[` +
		`{"functionResponse":{"name":"f","response":{"content":"[image (image/png, 3 bytes)]"}}}]},` +
		`{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"cG5n"}}]}]`
	if diff := cmp.Diff(want, string(body["contents"])); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	zip := llm.Message{Role: llm.RoleUser, Parts: []llm.Part{
		llm.Resource{URI: "a.zip", MIME: "application/zip", Bytes: []byte("PK")},
	}}
	body, err = sent(t, "gemini-3-pro", &llm.Request{Messages: []llm.Message{zip}})
	var unsupported *llm.UnsupportedError
	if !errors.As(err, &unsupported) || unsupported.Name != "a.zip" || body != nil {
		t.Errorf("the error is %v", err)
	}
	if _, err := sent(t, "gemini-3-pro", &llm.Request{Messages: []llm.Message{zip, said("So?")}}); err != nil {
		t.Errorf("earlier in the conversation: %v", err)
	}
}
