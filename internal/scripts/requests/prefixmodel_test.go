package requests_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/git-jp/git-jp/internal/llm/wire"
)

// A promptedModel answers in the format of a provider: with thoughts, the call of a tool if it was
// told to make one, and else with a word. It keeps its requests.
type promptedModel struct {
	format wire.Format
	url    string

	mu     sync.Mutex
	asked  int
	queue  []string // calls to make: a name and arguments
	bodies [][]byte
}

func servePrompted(t *testing.T, f wire.Format) *promptedModel {
	t.Helper()
	m := &promptedModel{format: f}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	m.url = server.URL
	return m
}

func (m *promptedModel) calls(all []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queue = all
}

// taken returns the requests since its last call.
func (m *promptedModel) taken() [][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.bodies
	m.bodies = nil
	return all
}

func (m *promptedModel) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked
}

// ServeHTTP implements [http.Handler].
func (m *promptedModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	switch {
	case err != nil:
		return
	case r.Method != http.MethodPost:
		http.NotFound(w, r)
		return
	case bytes.Contains(body, []byte("Generate a title")):
		http.Error(w, "no titles", http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	m.bodies = append(m.bodies, body)
	call := ""
	if len(m.queue) > 0 {
		call, m.queue = m.queue[0], m.queue[1:]
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, answerIn(m.format, m.asked, call))
}

// answerIn returns an answer in a format. A call is the name of a tool and its arguments.
func answerIn(f wire.Format, n int, call string) string {
	const word = `{\"name\":\"x\"}`
	tool, args, calls := strings.Cut(call, " ")
	id, quoted := "call"+strconv.Itoa(n), strconv.Quote(args)
	var events []string
	switch f {
	case wire.FormatAnthropic:
		block := `{"type":"text","text":"` + word + `"}`
		stop, input := "end_turn", ""
		if calls {
			block = fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":{}}`, id, tool)
			stop = "tool_use"
			input = `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":` + quoted + `}}`
		}
		events = []string{
			`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":3}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"so","signature":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_start","index":1,"content_block":` + block + `}`, input,
			`{"type":"content_block_stop","index":1}`,
			`{"type":"message_delta","delta":{"stop_reason":"` + stop + `"},"usage":{"output_tokens":9}}`,
			`{"type":"message_stop"}`,
		}
	case wire.FormatResponses:
		item := fmt.Sprintf(`{"type":"message","id":"msg_%d","content":[{"type":"output_text","text":"%s"}]}`, n, word)
		if calls {
			item = fmt.Sprintf(`{"type":"function_call","id":"fc_%d","call_id":%q,"name":%q,"arguments":%s}`, n, id, tool, quoted)
		}
		events = []string{
			fmt.Sprintf(`{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_%d",`+
				`"encrypted_content":"ZW5j","summary":[{"type":"summary_text","text":"so"}]}}`, n),
			`{"type":"response.output_item.done","output_index":1,"item":` + item + `}`,
			`{"type":"response.completed","response":{"model":"m","status":"completed","usage":{"input_tokens":1,"output_tokens":7}}}`,
		}
	case wire.FormatGemini:
		part := `{"text":"` + word + `","thoughtSignature":"c2ln"}`
		if calls {
			part = fmt.Sprintf(`{"functionCall":{"id":%q,"name":%q,"args":%s},"thoughtSignature":"c2ln"}`, id, tool, args)
		}
		events = []string{
			`{"candidates":[{"index":0,"content":{"parts":[{"text":"so","thought":true}]}}]}`,
			`{"candidates":[{"index":0,"content":{"parts":[` + part + `]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3}}`,
		}
	case wire.FormatOllama:
		message := `"content":"` + word + `"`
		if calls {
			message = fmt.Sprintf(`"content":"","tool_calls":[{"id":%q,"function":{"name":%q,"arguments":%s}}]`, id, tool, args)
		}
		return `{"model":"m","message":{"role":"assistant","thinking":"so","content":""},"done":false}` + "\n" +
			`{"model":"m","message":{"role":"assistant",` + message + `},"done":true,"done_reason":"stop"}` + "\n"
	default:
		delta, stop := `"content":"`+word+`"`, "stop"
		if calls {
			delta = fmt.Sprintf(`"tool_calls":[{"index":0,"id":%q,"function":{"name":%q,"arguments":%s}}]`, id, tool, quoted)
			stop = "tool_calls"
		}
		events = []string{
			`{"model":"m","choices":[{"index":0,"delta":{"role":"assistant","reasoning_content":"so"}}]}`,
			`{"choices":[{"index":0,"delta":{` + delta + `},"finish_reason":"` + stop + `"}],"usage":{"prompt_tokens":3}}`,
			`[DONE]`,
		}
	}
	var b strings.Builder
	for _, e := range events {
		if e != "" {
			b.WriteString("data: " + e + "\n\n")
		}
	}
	return b.String()
}
