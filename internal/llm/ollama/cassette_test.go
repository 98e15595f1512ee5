package ollama_test

import (
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/llmtest"
	"github.com/git-jp/git-jp/internal/llm/ollama"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/git-jp/git-jp/internal/realdata"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// recorded has the members of a body that the tests read.
type recorded struct {
	Model    string `json:"model"`
	Messages []struct {
		Role     string   `json:"role"`
		Content  string   `json:"content"`
		Thinking string   `json:"thinking"`
		Images   []string `json:"images"`
		Calls    []struct {
			Function struct {
				Name      string         `json:"name"`
				Arguments map[string]any `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name       string         `json:"name"`
			Parameters jsontext.Value `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	Format jsontext.Value `json:"format"`
	Think  *bool          `json:"think"`
	Stream bool           `json:"stream"`
}

func decode(t *testing.T, body []byte) recorded {
	t.Helper()
	var r recorded
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// prepare sets the parameters of the recorded body in a request.
func prepare(t *testing.T, body []byte, r *llm.Request) {
	w := decode(t, body)
	for _, tool := range w.Tools {
		r.Tools = append(r.Tools, llm.Tool{Name: tool.Function.Name, Schema: tool.Function.Parameters})
	}
	if w.Think != nil {
		r.Params.Reasoning.Mode = llm.ReasoningOff
		if *w.Think {
			r.Params.Reasoning.Mode = llm.ReasoningAuto
		}
	}
	r.Schema = w.Format
	switch last := w.Messages[len(w.Messages)-1]; {
	case last.Role != "system":
	case strings.Contains(last.Content, "the function named"):
		r.Choice = llm.ToolChoice{Mode: llm.ChoiceTool, Name: "run_me"}
	default:
		r.Choice.Mode = llm.ChoiceRequired
	}
	for _, m := range w.Messages {
		for _, image := range m.Images {
			data, err := base64.StdEncoding.DecodeString(image)
			if err != nil {
				t.Fatal(err)
			}
			r.Messages[0].Parts = append([]llm.Part{llm.Media{MIME: "image/jpeg", Bytes: data}},
				r.Messages[0].Parts...)
		}
	}
}

// TestRecordedConversations compares the adapter with recordings. The answer must become the events
// that jp stored, except for one difference: jp makes up an id for each call, "run_me_2", and we
// keep the server's.
//
// The request must say what jp sent. These differences are made equal before the comparison:
//
//   - text and calls of one reply are several messages in jp's and one in ours, and so are an image
//     and the question about it;
//   - we send the ids and names of calls with calls and results;
//   - jp sends "type": "Function", empty lists and null.
func TestRecordedConversations(t *testing.T) {
	dir := realdata.Dir(t, "cassettes", "ollama")
	files, err := filepath.Glob(filepath.Join(dir, "*__conversation_stream.snap"))
	if err != nil {
		t.Fatal(err)
	}
	for _, snapshot := range files {
		cassette := strings.TrimSuffix(snapshot, "__conversation_stream.snap") + ".yml"
		name := strings.TrimSuffix(filepath.Base(cassette), ".yml")
		for way, chunk := range map[string]func(int) int{"whole": nil, "odd": llmtest.Odd} {
			t.Run(name+"/"+way, func(t *testing.T) {
				llmtest.Player{
					Format: wire.FormatOllama, Cassette: cassette, Snapshot: snapshot, Chunk: chunk,
					Model: func(at llm.Endpoint) llm.Model {
						return ollama.New("qwen3.5:9b", at)
					},
					Prepare: func(recorded []byte, r *llm.Request) { prepare(t, recorded, r) },
					Same: func(want, got *llmtest.Stored) {
						if want.Kind == events.KindToolCallRequest && strings.HasPrefix(got.ID, "call_") {
							want.ID = got.ID
						}
					},
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
func plain(t *testing.T, body []byte) recorded {
	t.Helper()
	r := decode(t, body)
	merged := r.Messages[:0:0]
	for _, m := range r.Messages {
		if len(m.Calls) == 0 {
			m.Calls = nil
		}
		n := len(merged)
		if n == 0 || merged[n-1].Role != m.Role || m.Role == "system" || m.Role == "tool" {
			merged = append(merged, m)
			continue
		}
		last := &merged[n-1]
		last.Content += m.Content
		last.Thinking += m.Thinking
		last.Images = append(last.Images, m.Images...)
		last.Calls = append(last.Calls, m.Calls...)
	}
	r.Messages = merged
	for i := range r.Tools {
		if err := r.Tools[i].Function.Parameters.Canonicalize(); err != nil {
			t.Fatal(err)
		}
	}
	if r.Format != nil {
		if err := r.Format.Canonicalize(); err != nil {
			t.Fatal(err)
		}
	}
	return r
}
