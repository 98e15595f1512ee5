package chat_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/chat"
	"github.com/git-jp/git-jp/internal/llm/llmtest"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func hello() *llm.Request {
	return &llm.Request{Messages: []llm.Message{said("Hello?")}}
}

func said(text string) llm.Message {
	return llm.Message{Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: text}}}
}

// sse encodes a stream of chunks, with the comments that OpenRouter sends.
func sse(chunks ...string) []byte {
	var b strings.Builder
	for _, c := range chunks {
		b.WriteString(": OPENROUTER PROCESSING\n\ndata: " + c + "\n\n")
	}
	return []byte(b.String())
}

func delta(d string) string {
	return `{"id":"1","object":"chat.completion.chunk","created":1,"model":"m-1",` +
		`"choices":[{"index":0,"delta":` + d + `,"finish_reason":null}]}`
}

func finish(reason string) string {
	return `{"model":"m-1","choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

const (
	hi    = `{"role":"assistant","content":"Hi"}`
	usage = `{"model":"m-1","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":7,` +
		`"prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":10},` +
		`"completion_tokens_details":{"reasoning_tokens":5}}}`
)

func whole() []byte { return sse(delta(hi), finish("stop"), usage, "[DONE]") }

func model(t *testing.T, dialect string, s *llmtest.Server) *chat.Model {
	t.Helper()
	at := s.Endpoint(t, wire.FormatChat)
	at.Provider = dialect
	return chat.New("m-1", at)
}

// ask sends a request to a server with scripted replies.
func ask(t *testing.T, dialect string, r *llm.Request, replies ...llmtest.Reply) llmtest.Transcript {
	t.Helper()
	s := llmtest.Serve(t, replies...)
	return llmtest.Collect(model(t, dialect, s).Stream(t.Context(), r))
}

func fine(t *testing.T, got llmtest.Transcript) {
	t.Helper()
	if got.Err != nil || len(got.Faults) > 0 {
		t.Errorf("%v, faults %q", got.Err, got.Faults)
	}
}

// stored returns the stored events of an answer, one per line.
func stored(got llmtest.Transcript) string {
	var b strings.Builder
	for _, d := range got.Ends {
		switch ev := d.Event.(type) {
		case *events.ToolCallRequest:
			fmt.Fprintf(&b, "call %s %s %s\n", ev.ID, ev.Name, ev.Arguments)
		case *events.ChatResponse:
			fmt.Fprintf(&b, "%d %s%s\n", ev.Form, ev.Text, string(ev.Data))
		}
	}
	return b.String()
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	s := llmtest.Serve(t, llmtest.Reply{Body: whole(), Chunk: llmtest.Bytewise})
	got := llmtest.Collect(model(t, chat.LMStudio, s).Stream(t.Context(), hello()))
	fine(t, got)
	want := llm.Usage{
		Input: 30, CacheRead: 60, CacheWrite: 10, Output: 7, Reasoning: 5, Model: "m-1",
	}
	if got.Text() != "Hi" || got.Usage != want || got.Stop.Reason != llm.StopEnd {
		t.Errorf("%q, usage %+v, stop %+v", got.Text(), got.Usage, got.Stop)
	}
	sent := s.Sent()[0]
	if sent.Path != "/v1/chat/completions" || sent.Header.Get("Authorization") != "Bearer key" {
		t.Errorf("sent to %s with %v", sent.Path, sent.Header)
	}
	const body = `{"messages":[{"content":"Hello?","role":"user"}],"model":"m-1",` +
		`"stream":true,"stream_options":{"include_usage":true}}`
	if string(sent.Body) != body {
		t.Errorf("sent %s", sent.Body)
	}
}

// TestDeepSeek reads reasoning_content and DeepSeek's own count of cached tokens.
func TestDeepSeek(t *testing.T) {
	t.Parallel()
	got := ask(t, chat.DeepSeek, hello(), llmtest.Reply{Body: sse(
		delta(`{"role":"assistant","content":null,"reasoning_content":"Let me"}`),
		delta(`{"content":null,"reasoning_content":" see."}`), delta(`{"content":"Hi","reasoning_content":null}`),
		`{"model":"m-1","choices":[{"index":0,"delta":{"content":""},"finish_reason":"stop"}],"usage":{`+
			`"prompt_tokens":50,"completion_tokens":9,"prompt_cache_hit_tokens":40,`+
			`"prompt_cache_miss_tokens":10}}`, "[DONE]")})
	fine(t, got)
	if want := "1 Let me see.\n0 Hi\n"; stored(got) != want {
		t.Errorf("stored %q, want %q", stored(got), want)
	}
	if got.Usage.Input != 10 || got.Usage.CacheRead != 40 {
		t.Errorf("usage %+v", got.Usage)
	}
}

// TestTags checks that thoughts between tags are separated from the text, wherever fragments end,
// and that no other text is.
func TestTags(t *testing.T) {
	t.Parallel()
	quote := func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, `"`, `\"`), "\n", `\n`) }
	for said, want := range map[string]string{
		"<think>\nHm. </th\n</think>\n\nHi</think>": "1 Hm. </th\n\n0 Hi</think>\n",
		" \n<think></think>Hi":                      "0 Hi\n",
		"<think>still":                              "1 still\n",
		"<think>still</thi":                         "1 still</thi\n",
		"<thin":                                     "0 <thin\n",
		"<thinking> is a word":                      "0 <thinking> is a word\n",
		"Hi <think>no</think>":                      "0 Hi <think>no</think>\n",
	} {
		for size := 1; size <= len(said); size++ {
			var chunks []string
			for rest := said; rest != ""; rest = rest[min(size, len(rest)):] {
				chunks = append(chunks, delta(`{"content":"`+quote(rest[:min(size, len(rest))])+`"}`))
			}
			got := ask(t, chat.LMStudio, hello(), llmtest.Reply{Body: sse(append(chunks, finish("stop"))...)})
			fine(t, got)
			if stored(got) != want {
				t.Fatalf("%q in pieces of %d is stored as %q, want %q", said, size, stored(got), want)
			}
		}
	}
	tagged := llmtest.Reply{Body: sse(delta(`{"content":"<think>a</think>b"}`), finish("stop"))}
	if got := stored(ask(t, chat.DeepSeek, hello(), tagged)); got != "0 <think>a</think>b\n" {
		t.Errorf("where thoughts come apart, what is said is stored as %q", got)
	}
	r := hello()
	r.Tools = []llm.Tool{{Name: "f"}}
	held := llmtest.Reply{Body: sse(delta(`{"content":"<"}`),
		delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`), finish("tool_calls"))}
	if got := stored(ask(t, chat.VLLM, r, held)); got != "0 <\ncall a f {}\n" {
		t.Errorf("before a call: %q", got)
	}
}

// TestEndsWithoutGoodbye checks that an answer with a finish reason is complete, however its
// connection ends.
func TestEndsWithoutGoodbye(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]llmtest.Reply{
		"no DONE": {Body: sse(delta(hi), finish("stop"))},
		"aborted": {Body: sse(delta(hi), finish("stop")), Abort: true},
		"half":    {Body: append(sse(delta(hi), finish("stop")), `data: {"usage`...)},
	} {
		got := ask(t, chat.VLLM, hello(), reply)
		if got.Err != nil || got.Text() != "Hi" || got.Stop.Reason != llm.StopEnd {
			t.Errorf("%s: %q, %+v, %v", name, got.Text(), got.Stop, got.Err)
		}
	}
}

// TestCerebras reads chunks without empty members, and usage beside the end.
func TestCerebras(t *testing.T) {
	t.Parallel()
	bare := func(delta string) string {
		return `{"id":"1","choices":[{"delta":` + delta + `,"index":0}],"model":"m-1"}`
	}
	got := ask(t, chat.Cerebras, hello(), llmtest.Reply{Chunk: llmtest.Odd, Body: sse(
		bare(`{"role":"assistant"}`), bare(`{"reasoning":"I run"}`), bare(`{"reasoning":" it."}`),
		bare(`{"tool_calls":[{"function":{"name":"f","arguments":""},"type":"function","id":"885f","index":0}]}`),
		bare(`{"tool_calls":[{"function":{"arguments":"{\"a\":"},"type":"function","index":0}]}`),
		bare(`{"tool_calls":[{"function":{"arguments":"12}"},"type":"function","index":0}]}`),
		`{"id":"1","choices":[{"delta":{},"finish_reason":"tool_calls","index":0}],"model":"m-1","usage":{"total_tokens":50,`+
			`"completion_tokens":14,"prompt_tokens":36,"prompt_tokens_details":{"cached_tokens":28}},"time_info":{"created":1.5}}`,
		"[DONE]")})
	fine(t, got)
	if want := "1 I run it.\ncall 885f f {\"a\":12}\n"; stored(got) != want || got.Stop.Reason != llm.StopTools {
		t.Errorf("stored %q, want %q; stop %+v", stored(got), want, got.Stop)
	}
	if want := (llm.Usage{Input: 8, CacheRead: 28, Output: 14, Model: "m-1"}); got.Usage != want {
		t.Errorf("usage %+v", got.Usage)
	}
}

// TestMistral reads content that is a list.
func TestMistral(t *testing.T) {
	t.Parallel()
	got := ask(t, chat.Mistral, hello(), llmtest.Reply{Body: sse(
		delta(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]}]}`),
		delta(`{"content":[{"type":"text","text":"Hi"}]}`), delta(`{"content":"!"}`), finish("stop"))})
	fine(t, got)
	if want := "1 Hm.\n0 Hi!\n"; stored(got) != want {
		t.Errorf("stored %q, want %q", stored(got), want)
	}
}

func TestParallelCalls(t *testing.T) {
	t.Parallel()
	first := `{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"f","arguments":""}}]}`
	r := hello()
	r.Tools = []llm.Tool{{Name: "f", Schema: jsontext.Value(`{"type":"object"}`)}}
	for name, c := range map[string]struct {
		chunks []string
		want   string
	}{
		"by index": {
			[]string{
				delta(first), delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":"}}]}`),
				delta(`{"tool_calls":[{"index":1,"id":"call_b","function":{"name":"f","arguments":"{}"}},` +
					`{"index":0,"function":{"arguments":"1}"}}]}`),
			},
			"call call_a f {\"a\":1}\ncall call_b f {}\n",
		},
		"all with index 0": {
			[]string{delta(`{"tool_calls":[` +
				`{"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\":1}"}},` +
				`{"index":0,"id":"y","function":{"name":"f","arguments":"{\"a\":2}"}}]}`)},
			"call x f {\"a\":1}\ncall y f {\"a\":2}\n",
		},
		"no id, the name late": {
			[]string{
				delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]}`),
				delta(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":":1}"}}]}`),
			},
			"call call_0 f {\"a\":1}\n",
		},
		"begun twice": {
			[]string{
				delta(first), delta(first),
				delta(`{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"f","arguments":"{\"a\":1"}}]}`),
				delta(first), delta(`{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}`),
			},
			"call call_a f {\"a\":1}\n",
		},
		"no arguments": {[]string{delta(first)}, "call call_a f {}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chunks := append([]string{delta(`{"content":"I look."}`)}, c.chunks...)
			got := ask(t, chat.LlamaCPP, r, llmtest.Reply{Body: sse(append(chunks, finish("tool_calls"))...)})
			fine(t, got)
			if want := "0 I look.\n" + c.want; stored(got) != want || got.Stop.Reason != llm.StopTools {
				t.Errorf("stored %q, want %q; stop %+v", stored(got), want, got.Stop)
			}
		})
	}
}

func TestStops(t *testing.T) {
	t.Parallel()
	cut := `{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"a\":"}}]}`
	for name, c := range map[string]struct {
		chunks []string
		want   llm.Stop
		stored string
	}{
		"length": {
			[]string{delta(hi), delta(cut), finish("length")},
			llm.Stop{Reason: llm.StopMaxTokens, Native: "length"},
			"0 Hi\n",
		},
		"filter": {
			[]string{finish("content_filter")},
			llm.Stop{Reason: llm.StopRefusal, Native: "content_filter", Category: "content_filter"},
			"",
		},
		"refusal": {
			[]string{delta(`{"refusal":"No."}`), finish("stop")},
			llm.Stop{Reason: llm.StopRefusal, Native: "stop", Explanation: "No."},
			"",
		},
		"window": {
			[]string{delta(hi), finish("model_length")},
			llm.Stop{Reason: llm.StopOverflow, Native: "model_length"},
			"0 Hi\n",
		},
		"unknown": {
			[]string{delta(hi), finish("abort")},
			llm.Stop{Reason: llm.StopOther, Native: "abort"},
			"0 Hi\n",
		},
		"blank": {
			[]string{delta(`{"content":" \n"}`), finish("stop")},
			llm.Stop{Reason: llm.StopEnd, Native: "stop"},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ask(t, chat.OpenRouter, hello(), llmtest.Reply{Body: sse(c.chunks...)})
			fine(t, got)
			if got.Stop != c.want || stored(got) != c.stored {
				t.Errorf("%q, %+v", stored(got), got.Stop)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	limit := http.Header{"Retry-After": {"7"}}
	broken := `{"id":"1","model":"m-1","error":{"code":502,"message":"Provider returned error"},` +
		`"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`
	for name, c := range map[string]struct {
		reply llmtest.Reply
		check func(error) bool
	}{
		"rate limit": {
			llmtest.Reply{Status: 429, Header: limit, Body: []byte(`{"error":{"message":"x","code":429}}`)},
			api(429, "429", true),
		},
		"unavailable": {llmtest.Reply{Status: 503, Body: []byte("<html>no</html>")}, api(503, "", true)},
		"invalid": {
			llmtest.Reply{Status: 400, Body: []byte(`{"error":{"message":"x","type":"invalid"}}`)},
			api(400, "invalid", false),
		},
		"overflow": {
			llmtest.Reply{Status: 400, Body: []byte(`{"error":{"code":400,"message":"the request exceeds ` +
				`the available context size","type":"exceed_context_size_error"}}`)},
			func(err error) bool {
				var o *llm.OverflowError
				return errors.As(err, &o)
			},
		},
		"behind": {
			llmtest.Reply{Status: 400, Body: []byte(`{"error":{"message":"Provider returned error","code":400,` +
				`"metadata":{"raw":"{\"error\":{\"message\":\"Invalid signature in thinking block\"}}"}}}`)},
			llm.SignatureRefused,
		},
		"event": {llmtest.Reply{Body: sse(delta(hi), broken)}, api(0, "502", true)},
		"choice": {
			llmtest.Reply{Body: sse(`{"choices":[{"index":0,"delta":{},"error":{"code":502,"message":"x"}}]}`)},
			api(0, "502", true),
		},
		"gave up":   {llmtest.Reply{Body: sse(finish("error"))}, api(0, "error", true)},
		"truncated": {llmtest.Reply{Body: sse(delta(hi))}, cut},
		"done early": {
			llmtest.Reply{Body: sse(delta(hi), "[DONE]")}, cut,
		},
		"half":    {llmtest.Reply{Body: sse(delta(hi))[:70]}, cut},
		"aborted": {llmtest.Reply{Body: sse(delta(hi)), Abort: true}, cut},
		"no chunks": {llmtest.Reply{Body: []byte("data: <html>\n\n")}, func(err error) bool {
			var w *llm.WireError
			return errors.As(err, &w)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := ask(t, chat.OpenRouter, hello(), c.reply); !c.check(got.Err) {
				t.Errorf("the error is %#v", got.Err)
			}
		})
	}
}

func api(status int, kind string, retryable bool) func(error) bool {
	return func(err error) bool {
		var e *llm.APIError
		return errors.As(err, &e) && e.Status == status && e.Type == kind &&
			e.Retryable == retryable && (status != 429 || e.RetryAfter == 7*time.Second)
	}
}

func cut(err error) bool {
	var c *wire.CutError
	return errors.As(err, &c)
}

func TestStructured(t *testing.T) {
	t.Parallel()
	r := hello()
	r.Schema = jsontext.Value(`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"}}}`)
	closed := hello()
	closed.Schema = jsontext.Value(`{"type":"object","properties":{"z":{"type":"string"}},"required":["z"],` +
		`"additionalProperties":false}`)
	answer := llmtest.Reply{Body: sse(delta(`{"content":"{\"z\":"}`), delta(`{"content":"\"x\"}"}`), finish("stop"))}
	s := llmtest.Serve(t, answer)
	fine(t, llmtest.Collect(model(t, chat.Mistral, s).Stream(t.Context(), closed)))
	if body := string(s.Sent()[0].Body); !strings.Contains(body, `,"strict":true},"type":"json_schema"}`) {
		t.Errorf("a closed schema is not strict in %s", body)
	}
	for dialect, want := range map[string]string{
		chat.LlamaCPP: `"response_format":{"json_schema":{"name":"structured_output","schema":` +
			`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"}}}},"type":"json_schema"}`,
		chat.DeepSeek: `"response_format":{"type":"json_object"}`,
	} {
		s := llmtest.Serve(t, answer)
		got := llmtest.Collect(model(t, dialect, s).Stream(t.Context(), r))
		fine(t, got)
		if stored(got) != "2 {\"z\":\"x\"}\n" {
			t.Errorf("stored %q", stored(got))
		}
		body := s.Sent()[0].Body
		if !strings.Contains(string(body), want) {
			t.Errorf("no %s in %s", want, body)
		}
		p, err := llmtest.PromptOf(wire.FormatChat, body)
		const words = "follows this JSON Schema:\n{"
		if err != nil || strings.Contains(p.Lead, words) || strings.Contains(p.Said, words) != (dialect == chat.DeepSeek) {
			t.Errorf("%s: %v: where is the schema asked for? %s", dialect, err, body)
		}
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	list := `{"data":[{"id":"a/b","name":"A B","context_length":1000,"architecture":{"input_modalities":` +
		`["text","image","file"]},"top_provider":{"context_length":900,"max_completion_tokens":100},` +
		`"supported_parameters":["reasoning","tools"],"pricing":{"prompt":"0.000003","completion":"0.000015",` +
		`"input_cache_read":"0.0000003","image":"0.1"}},{"id":"m-1","pricing":{"prompt":"-1","completion":["x"]},"max_model_len":77}]}`
	s := llmtest.Serve(t, llmtest.Reply{Body: []byte(list)})
	infos, err := model(t, chat.OpenRouter, s).Models(t.Context())
	want := llm.Info{
		ID: "a/b", Title: "A B", Window: 900, MaxOutput: 100, Reasoning: true, Tools: true,
		Accepts: llm.Inputs{Images: true, PDFs: true},
		Price:   llm.Price{Input: 3, Output: 15, Read: 0.3},
	}
	if err == nil && infos[1].Price != (llm.Price{}) {
		t.Errorf("what has no price costs %+v", infos[1].Price)
	}
	if err != nil || len(infos) != 2 || infos[0] != want {
		t.Errorf("%+v, %v", infos, err)
	}
	if p := s.Sent()[0].Path; p != "/api/v1/models" {
		t.Errorf("asked at %s", p)
	}
	if i, err := model(t, chat.VLLM, s).Describe(t.Context()); err != nil || i.Window != 77 {
		t.Errorf("%+v, %v", i, err)
	}
	cerebras := llmtest.Serve(t, llmtest.Reply{Body: []byte(list)}, llmtest.Reply{Status: 404},
		llmtest.Reply{Body: []byte(list)})
	for _, paths := range []string{"/public/v1/models", "/public/v1/models /v1/models"} {
		before := len(cerebras.Sent())
		if _, err := model(t, chat.Cerebras, cerebras).Models(t.Context()); err != nil {
			t.Error(err)
		}
		var asked []string
		for _, s := range cerebras.Sent()[before:] {
			asked = append(asked, s.Path)
		}
		if got := strings.Join(asked, " "); got != paths {
			t.Errorf("asked at %s, want %s", got, paths)
		}
	}
	props := llmtest.Serve(t, llmtest.Reply{Body: []byte(
		`{"default_generation_settings":{"n_ctx":4096},"modalities":{"vision":true}}`)})
	i, err := model(t, chat.LlamaCPP, props).Describe(t.Context())
	if err != nil || i.Window != 4096 || !i.Accepts.Images || props.Sent()[0].Path != "/props" {
		t.Errorf("%+v, %v, asked %s", i, err, props.Sent()[0].Path)
	}
}

// TestModelsAreAskedForAgain checks that the retry policy applies to lists of models too.
func TestModelsAreAskedForAgain(t *testing.T) {
	t.Parallel()
	s := llmtest.Serve(t, llmtest.Reply{Status: 503, Body: []byte("{}")}, llmtest.Reply{Body: []byte(`{"data":[{"id":"a"}]}`)})
	at := s.Endpoint(t, wire.FormatChat)
	at.Retry = llm.Retry{Max: 1, Sleep: func(context.Context, time.Duration) error { return nil }}
	infos, err := chat.New("a", at).Models(t.Context())
	if err != nil || len(infos) != 1 || len(s.Sent()) != 2 {
		t.Errorf("%+v, %v after %d requests", infos, err, len(s.Sent()))
	}
}
