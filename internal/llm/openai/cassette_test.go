package openai_test

import (
	"context"
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/llmtest"
	"github.com/git-jp/git-jp/internal/llm/openai"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/git-jp/git-jp/internal/realdata"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// A recorded has the members of a recorded body except its messages.
type recorded struct {
	Model     string
	Reasoning *struct {
		Effort string
		Mode   string
	}
	Options *struct{ Mode string } `json:"prompt_cache_options"`
	Key     string                 `json:"prompt_cache_key"`
	Choice  json.RawMessage        `json:"tool_choice"`
	Tools   []struct {
		Name       string
		Parameters json.RawMessage
	}
	Text *struct {
		Format struct{ Schema json.RawMessage }
	}
}

// A switching model takes the name that was recorded with each exchange.
type switching struct {
	at   llm.Endpoint
	name string
}

func (s *switching) ID() string { return "openai/gpt" }

func (s *switching) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	return openai.New(s.name, s.at).Stream(ctx, r)
}

// prepare completes a request from the recorded body.
func (s *switching) prepare(t *testing.T, body []byte, r *llm.Request) {
	var rec recorded
	if err := json.Unmarshal(body, &rec); err != nil {
		t.Fatal(err)
	}
	s.name = rec.Model
	r.Session = rec.Key
	switch {
	case rec.Reasoning == nil:
	case rec.Reasoning.Effort == "minimal" || rec.Reasoning.Effort == "none":
		r.Params.Reasoning.Mode = llm.ReasoningOff
	default:
		r.Params.Reasoning = llm.ReasoningParams{
			Mode: llm.ReasoningEffort, Effort: llm.Effort(rec.Reasoning.Effort),
		}
	}
	for _, tool := range rec.Tools {
		r.Tools = append(r.Tools, llm.Tool{Name: tool.Name, Schema: jsontext.Value(tool.Parameters)})
	}
	r.Choice = choice(rec.Choice)
	if rec.Text != nil {
		r.Schema = jsontext.Value(rec.Text.Format.Schema)
	}
	r.Cache.Off = rec.Options != nil && rec.Options.Mode == "explicit"
	if rec.Reasoning != nil && rec.Reasoning.Mode != "" {
		r.Params.Other = map[string]jsontext.Value{"reasoning": jsontext.Value(
			`{"effort":"low","summary":"auto","mode":"pro","context":"all_turns"}`)}
	}
}

func choice(raw json.RawMessage) llm.ToolChoice {
	var named struct{ Name string }
	switch {
	case string(raw) == `"required"`:
		return llm.ToolChoice{Mode: llm.ChoiceRequired}
	case json.Unmarshal(raw, &named) == nil && named.Name != "":
		return llm.ToolChoice{Mode: llm.ChoiceTool, Name: named.Name}
	default:
		return llm.ToolChoice{}
	}
}

// attach adds the attachments of jp's recordings, which no snapshot has.
func attach(t *testing.T, test string, r *llm.Request) {
	var files []llm.Part
	switch {
	case strings.HasPrefix(test, "test_gpt_5_6"):
		r.System = []llm.SystemText{{Text: "You are a concise assistant.", Breakpoint: true}}
		res := llm.Resource{URI: "file:///notes.txt", Text: "The magic number is 42."}
		if strings.Contains(test, "read_after_write") {
			res.URI = "file:///novel.txt"
			res.Text = strings.Repeat("The quick brown fox jumps over the lazy dog. ", 400)
		}
		files = append(files, res)
	case strings.Contains(test, "image"):
		image, err := os.ReadFile(realdata.Dir(t, "cassettes", "banana.jpg"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, llm.Resource{URI: "banana.jpg", MIME: "image/jpeg", Bytes: image})
	default:
		return
	}
	m := llm.Message{Role: llm.RoleUser, Parts: files, Breakpoint: true}
	r.Messages = append([]llm.Message{m}, r.Messages...)
}

// TestCassettes plays each recorded conversation through the adapter, in one piece and in odd
// chunks, and compares the stored events and the sent bodies with the recordings. The events do not
// differ; the bodies differ as [expected] lists.
func TestCassettes(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(realdata.Dir(t, "cassettes", "openai"), "test_*.yml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		test := strings.TrimSuffix(filepath.Base(file), ".yml")
		if strings.HasPrefix(test, "test_model") {
			continue // lists of models, see TestModels
		}
		for name, chunk := range map[string]func(int) int{"whole": nil, "odd": llmtest.Odd} {
			t.Run(test+"/"+name, func(t *testing.T) {
				t.Parallel()
				model := &switching{}
				llmtest.Player{
					Format: wire.FormatResponses, Cassette: file, Chunk: chunk,
					Snapshot: strings.TrimSuffix(file, ".yml") + "__conversation_stream.snap",
					Model:    func(at llm.Endpoint) llm.Model { model.at = at; return model },
					Prepare: func(body []byte, r *llm.Request) {
						model.prepare(t, body, r)
						attach(t, test, r)
					},
					Bodies: func(i int, recorded, sent []byte) {
						if diff := cmp.Diff(expected(t, recorded), llmtest.Decoded(sent)); diff != "" {
							t.Errorf("body %d (-recorded +sent):\n%s", i, diff)
						}
					},
				}.Play(t)
			})
		}
	}
}

// expected returns a recorded body with the intended differences:
//
//   - members that are null or an empty list are not sent;
//   - truncation is not "auto": the provider would silently drop the user's messages;
//   - without tools there is no tool_choice, without a system prompt no system message;
//   - a message without the reasoning that led to it is sent without its id (rule R2), as text;
//   - empty reasoning has an empty summary, as received, not one with an empty text.
func expected(t *testing.T, body []byte) map[string]any {
	t.Helper()
	out, _ := prune(llmtest.Decoded(body)).(map[string]any)
	if out == nil {
		t.Fatalf("no body: %s", body)
	}
	delete(out, "truncation")
	if out["tools"] == nil {
		delete(out, "tool_choice")
	}
	var items []any
	bound := false
	all, _ := out["input"].([]any)
	for _, x := range all {
		it, _ := x.(map[string]any)
		bound = expectedItem(it, bound)
		if it["role"] == "system" && it["content"] == nil {
			continue
		}
		items = append(items, it)
	}
	out["input"] = items
	return out
}

func expectedItem(it map[string]any, bound bool) bool {
	if it["type"] == "reasoning" {
		var texts []any
		summary, _ := it["summary"].([]any)
		for _, x := range summary {
			if s, _ := x.(map[string]any); s["text"] != "" {
				texts = append(texts, s)
			}
		}
		it["summary"] = append([]any{}, texts...)
		return true
	}
	content, _ := it["content"].([]any)
	if it["role"] != "assistant" || len(content) == 0 {
		return false
	}
	part, _ := content[0].(map[string]any)
	if bound {
		part["annotations"] = []any{}
		return false
	}
	delete(it, "id")
	delete(it, "status")
	it["content"] = part["text"]
	return false
}

// prune removes members that are null or empty lists, except in schemas.
func prune(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, x := range v {
			if x = prune(x); x == nil {
				delete(v, name)
			} else {
				v[name] = x
			}
		}
		return v
	case []any:
		if len(v) == 0 {
			return nil
		}
		for i := range v {
			v[i] = prune(v[i])
		}
	}
	return v
}

func TestModels(t *testing.T) {
	t.Parallel()
	exchanges := llmtest.Cassette(t, realdata.Dir(t, "cassettes", "openai", "test_models.yml"))
	s := llmtest.Serve(t, llmtest.Script(exchanges, llmtest.Odd)...)
	infos, err := openai.New("gpt-5", s.Endpoint(t, wire.FormatResponses)).Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]bool{}
	for _, i := range infos {
		reasons[i.ID] = i.Reasoning
	}
	if len(infos) < 50 || !reasons["gpt-5-mini"] || reasons["gpt-4o"] {
		t.Errorf("%d models, reasoning: %v", len(infos), reasons)
	}
	if sent := s.Sent()[0]; sent.Path != "/v1/models" || sent.Header.Get("Authorization") != "Bearer key" {
		t.Errorf("sent %s with %q", sent.Path, sent.Header)
	}
}
