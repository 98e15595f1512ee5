package anthropic_test

import (
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/anthropic"
	"github.com/git-jp/git-jp/internal/llm/llmtest"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/git-jp/git-jp/internal/realdata"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// A sentBody has the members of a body that the tests read.
type sentBody struct {
	Model     string `json:"model"`
	MaxTokens int    `json:"max_tokens"`
	System    []struct {
		Text string `json:"text"`
	} `json:"system"`
	Messages []struct {
		Role    string `json:"role"`
		Content []struct {
			Type   string `json:"type"`
			Title  string `json:"title"`
			Source struct {
				Content []struct {
					Source struct {
						MIME string `json:"media_type"`
						Data string `json:"data"`
					} `json:"source"`
				} `json:"content"`
			} `json:"source"`
		} `json:"content"`
	} `json:"messages"`
	Thinking *struct {
		Type   string `json:"type"`
		Budget int    `json:"budget_tokens"`
	} `json:"thinking"`
	Tools []struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Schema      jsontext.Value `json:"input_schema"`
	} `json:"tools"`
	Choice struct {
		Type string `json:"type"`
	} `json:"tool_choice"`
	Output struct {
		Effort string `json:"effort"`
		Format struct {
			Schema jsontext.Value `json:"schema"`
		} `json:"format"`
	} `json:"output_config"`
}

func decode(t *testing.T, body []byte) sentBody {
	t.Helper()
	var w sentBody
	if err := json.Unmarshal(body, &w); err != nil {
		t.Fatal(err)
	}
	return w
}

// prepare sets the parameters of the recorded body in a request.
func prepare(t *testing.T, recorded []byte, r *llm.Request) {
	w := decode(t, recorded)
	r.Params.MaxTokens = w.MaxTokens
	for _, tool := range w.Tools {
		r.Tools = append(r.Tools, llm.Tool{
			Name: tool.Name, Description: tool.Description, Schema: tool.Schema,
		})
	}
	if w.Choice.Type == "any" || len(w.System) > 0 {
		r.Choice.Mode = llm.ChoiceRequired
	}
	switch {
	case w.Thinking == nil:
	case w.Thinking.Type == "enabled":
		r.Params.Reasoning = llm.ReasoningParams{Mode: llm.ReasoningBudget, Budget: w.Thinking.Budget}
	case w.Thinking.Type == "disabled":
		r.Params.Reasoning.Mode = llm.ReasoningOff
	default:
		r.Params.Reasoning = llm.ReasoningParams{
			Mode: llm.ReasoningEffort, Effort: llm.Effort(w.Output.Effort),
		}
	}
	r.Schema = w.Output.Format.Schema
	for _, c := range w.Messages[0].Content {
		if c.Type != "document" {
			continue
		}
		data, err := base64.StdEncoding.DecodeString(c.Source.Content[0].Source.Data)
		if err != nil {
			t.Fatal(err)
		}
		r.Messages[0].Parts = append([]llm.Part{llm.Resource{
			URI: c.Title, MIME: c.Source.Content[0].Source.MIME, Bytes: data,
		}}, r.Messages[0].Parts...)
	}
}

// TestRecordedConversations compares the adapter with recordings: the answer must become the events
// that jp stored, without any difference, and the request must say what jp sent. The bodies differ
// in the following, which is made equal before the comparison:
//
//   - jp sets a breakpoint on the last tool even if there is a system prompt, and on the last
//     document; we set one at the end of tools and system, and one at the end of the last request;
//   - the content of a result is a string in jp's and a list of one text in ours, which the
//     provider treats the same.
func TestRecordedConversations(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(realdata.Dir(t, "cassettes", "anthropic"), "*__conversation_stream.snap"))
	if err != nil {
		t.Fatal(err)
	}
	for _, snapshot := range files {
		cassette := strings.TrimSuffix(snapshot, "__conversation_stream.snap") + ".yml"
		name := strings.TrimSuffix(filepath.Base(cassette), ".yml")
		first := decode(t, llmtest.Cassette(t, cassette)[0].Request)
		for way, chunk := range map[string]func(int) int{"whole": nil, "odd": llmtest.Odd} {
			t.Run(name+"/"+way, func(t *testing.T) {
				llmtest.Player{
					Format: wire.FormatAnthropic, Cassette: cassette, Snapshot: snapshot, Chunk: chunk,
					Model: func(at llm.Endpoint) llm.Model {
						return anthropic.New(first.Model, at, anthropic.Options{Continue: anthropic.DefaultContinue})
					},
					Prepare: func(recorded []byte, r *llm.Request) { prepare(t, recorded, r) },
					Bodies: func(i int, recorded, sent []byte) {
						if diff := cmp.Diff(plain(t, recorded), plain(t, sent)); diff != "" {
							t.Errorf("body of exchange %d (-recorded +sent):\n%s", i, diff)
						}
					},
				}.Play(t)
			})
		}
	}
}

// plain returns a body without the members that may differ.
func plain(t *testing.T, body []byte) map[string]any {
	t.Helper()
	v := llmtest.Decoded(body)
	if v == nil {
		t.Fatalf("no JSON: %.100s", body)
	}
	for _, list := range []string{"tools", "system"} {
		unmark(v[list])
	}
	messages, _ := v["messages"].([]any)
	for _, m := range messages {
		content := m.(map[string]any)["content"]
		unmark(content)
		for _, c := range content.([]any) {
			c := c.(map[string]any)
			if s, ok := c["content"].(string); ok {
				c["content"] = []any{map[string]any{"type": "text", "text": s}}
			}
		}
	}
	return v
}

func unmark(v any) {
	list, _ := v.([]any)
	for _, x := range list {
		delete(x.(map[string]any), "cache_control")
	}
}
