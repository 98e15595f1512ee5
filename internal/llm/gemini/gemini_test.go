package gemini_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/gemini"
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

// sse encodes a stream of chunks, with Google's line ends.
func sse(chunks ...string) []byte {
	var b strings.Builder
	for _, c := range chunks {
		b.WriteString("data: " + c + "\r\n\r\n")
	}
	return []byte(b.String())
}

func parts(ps ...string) string {
	return `{"candidates":[{"content":{"parts":[` + strings.Join(ps, ",") + `],"role":"model"},"index":0}],` +
		`"usageMetadata":{"promptTokenCount":100},"modelVersion":"gemini-3-x","responseId":"r1"}`
}

func text(s string) string {
	quoted, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return `{"text":` + string(quoted) + `}`
}

func finish(reason string) string {
	return `{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"` + reason +
		`","index":0}],"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":7,` +
		`"thoughtsTokenCount":5,"cachedContentTokenCount":60,"totalTokenCount":112},` +
		`"modelVersion":"gemini-3-x","responseId":"r1"}`
}

func TestConforms(t *testing.T) {
	many := func(n int) []byte {
		var chunks []string
		for range n {
			chunks = append(chunks, parts(text("x")))
		}
		return sse(append(chunks, finish("STOP"))...)
	}
	llmtest.Conform(t, llmtest.Harness{
		Format: wire.FormatGemini, Type: "text/event-stream",
		New:    func(at llm.Endpoint) llm.Model { return gemini.New("gemini-3-pro", at) },
		Answer: func(s string) []byte { return sse(parts(text(s)), finish("STOP")) },
		Many:   many,
		Fault: sse(parts(text("so")), `{"error":{"code":503,"message":"`+llmtest.Overloaded+
			`","status":"UNAVAILABLE"}}`),
	})
}

func TestOutlivesSignatures(t *testing.T) {
	t.Parallel()
	signed := llm.Text{Text: "a"}
	signed.Metadata = signed.Metadata.WithText(llm.MetadataGoogleSignature, llmtest.Stale)
	llmtest.Outlives(t, llmtest.Harness{
		Format: wire.FormatGemini, Type: "text/event-stream",
		New:    func(at llm.Endpoint) llm.Model { return gemini.New("gemini-3-pro", at) },
		Answer: func(s string) []byte { return sse(parts(text(s)), finish("STOP")) },
	}, "Thought signature is not valid.", llm.Message{
		Role: llm.RoleAssistant, Parts: []llm.Part{signed},
	})
}

// ask sends a request to a server with scripted replies.
func ask(t *testing.T, name string, r *llm.Request, replies ...llmtest.Reply) (llmtest.Transcript, *llmtest.Server) {
	t.Helper()
	s := llmtest.Serve(t, replies...)
	at := s.Endpoint(t, wire.FormatGemini)
	at.BaseURL += "/v1beta"
	return llmtest.Collect(gemini.New(name, at).Stream(t.Context(), r)), s
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
			fmt.Fprintf(&b, "call %s %s %s", ev.ID, ev.Name, ev.Arguments)
		case *events.ChatResponse:
			fmt.Fprintf(&b, "%d %s%s", ev.Form, ev.Text, string(ev.Data))
		}
		if s, ok := d.Metadata.Text(llm.MetadataGoogleSignature); ok {
			b.WriteString(" [" + s + "]")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestSignatures checks that signatures are stored byte for byte with the parts that they arrived
// with, and sent back with them. The odd ones are not Base64 as a library would encode it.
func TestSignatures(t *testing.T) {
	t.Parallel()
	answer := sse(
		parts(`{"text":"Let me","thought":true}`), parts(`{"text":" see.","thought":true,"thoughtSignature":"a-_b"}`),
		parts(text("I ")), parts(text("look.")), parts(`{"text":"","thoughtSignature":"Ab+/Cd==\n"}`),
		parts(text("More.")),
		parts(`{"functionCall":{"name":"f","args":{"z":1.0,"a":"<&>"}},"thoughtSignature":"c2ln"}`,
			`{"functionCall":{"id":"own","name":"f"}}`), finish("STOP"))
	r := hello()
	r.Tools = []llm.Tool{{Name: "f", Schema: jsontext.Value(`{"type":"object"}`)}}
	got, s := ask(t, "gemini-3-pro", r, llmtest.Reply{Body: answer, Chunk: llmtest.Odd})
	fine(t, got)
	want := "1 Let me see. [a-_b]\n0 I look. [Ab+/Cd==\n]\n0 More.\n" +
		`call r1_0 f {"z":1.0,"a":"<&>"} [c2ln]` + "\ncall own f {}\n"
	if stored(got) != want || got.Stop.Reason != llm.StopTools {
		t.Fatalf("stored\n%s, want\n%s; stop %+v", stored(got), want, got.Stop)
	}
	usage := llm.Usage{
		Input: 40, CacheRead: 60, Output: 12, Reasoning: 5, Model: "gemini-3-x",
	}
	if got.Usage != usage {
		t.Errorf("usage %+v", got.Usage)
	}
	if p := s.Sent()[0].Path; p != "/v1beta/models/gemini-3-pro:streamGenerateContent" {
		t.Errorf("sent to %s", p)
	}
	reply := llm.Message{Role: llm.RoleAssistant}
	for _, d := range got.Ends {
		reply.Parts = append(reply.Parts, llmtest.Replayed(d))
	}
	again := &llm.Request{Messages: []llm.Message{said("Q"), reply, {
		Role: llm.RoleUser, Parts: []llm.Part{
			llm.Result{CallID: "own", Parts: []llm.Part{llm.Text{Text: "2"}}, IsError: true},
			llm.Result{CallID: "r1_0", Parts: []llm.Part{llm.Text{Text: "1"}}},
			llm.Text{Text: "So?"},
		},
	}}}
	got, s = ask(t, "gemini-3-pro", again, llmtest.Reply{Body: sse(finish("STOP"))})
	fine(t, got)
	sent := string(s.Sent()[0].Body)
	wantBody := `"contents":[{"role":"user","parts":[{"text":"Q"}]},{"role":"model","parts":[` +
		`{"text":"Let me see.","thought":true,"thoughtSignature":"a-_b"},` +
		`{"text":"I look.","thoughtSignature":"Ab+/Cd==\n"},{"text":"More."},` +
		`{"thoughtSignature":"c2ln","functionCall":{"id":"r1_0","name":"f","args":{"z":1.0,"a":"<&>"}}},` +
		`{"functionCall":{"id":"own","name":"f","args":{}}}]},{"role":"user","parts":[` +
		`{"functionResponse":{"id":"r1_0","name":"f","response":{"content":"1"}}},` +
		`{"functionResponse":{"id":"own","name":"f","response":{"error":"2"}}}]},` +
		`{"role":"user","parts":[{"text":"So?"}]}]`
	if !strings.Contains(sent, wantBody) {
		t.Errorf("sent %s, want %s", sent, wantBody)
	}
}

// TestForeign checks that calls of another model have the value that the provider prescribes, for
// models that need signatures, and keep it after their turn.
func TestForeign(t *testing.T) {
	t.Parallel()
	sig := events.Metadata{}.WithText(llm.MetadataGoogleSignature, "theirs")
	foreign := llm.Message{Role: llm.RoleAssistant, Model: "anthropic/claude", Parts: []llm.Part{
		llm.Reasoning{Text: "so"}, llm.Call{ID: "c", Name: "f", Metadata: sig}, llm.Call{ID: "d", Name: "f"},
	}}
	results := llm.Message{Role: llm.RoleUser, Parts: []llm.Part{
		llm.Result{CallID: "c"}, llm.Result{CallID: "d"},
	}}
	for name, want := range map[string]int{"gemini-3-pro": 2, "gemini-2.5-pro": 0} {
		r := &llm.Request{Messages: []llm.Message{
			said("P"), foreign, results, said("Q"), foreign, results,
		}}
		got, s := ask(t, name, r, llmtest.Reply{Body: sse(finish("STOP"))})
		fine(t, got)
		body := string(s.Sent()[0].Body)
		if n := strings.Count(body, `"thoughtSignature":"skip_thought_signature_validator"`); n != want {
			t.Errorf("%s: %d calls are signed, want %d: %s", name, n, want, body)
		}
		if strings.Contains(body, "theirs") {
			t.Errorf("another provider's signature goes to %s", name)
		}
	}
}

// TestSignedAfterLooks checks that images in results do not begin a turn, so that calls before them
// are signed too.
func TestSignedAfterLooks(t *testing.T) {
	t.Parallel()
	call := func(id string) llm.Message {
		return llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{llm.Call{ID: id, Name: "f"}}}
	}
	picture := llm.Media{MIME: "image/png", Bytes: []byte("png")}
	seen := func(id string) llm.Message {
		return llm.Message{Role: llm.RoleUser, Parts: []llm.Part{
			llm.Result{CallID: id, Parts: []llm.Part{picture}},
		}}
	}
	r := &llm.Request{Messages: []llm.Message{said("Q"), call("a"), seen("a"), call("b"), seen("b")}}
	got, s := ask(t, "gemini-3-pro", r, llmtest.Reply{Body: sse(finish("STOP"))})
	fine(t, got)
	if n := strings.Count(string(s.Sent()[0].Body), "skip_thought_signature_validator"); n != 2 {
		t.Errorf("%d calls are signed, want 2", n)
	}
}

func TestStops(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		chunks []string
		want   llm.Stop
		stored string
	}{
		"max tokens": {
			[]string{parts(text("Hi")), finish("MAX_TOKENS")},
			llm.Stop{Reason: llm.StopMaxTokens, Native: "MAX_TOKENS"},
			"0 Hi\n",
		},
		"safety": {
			[]string{finish("SAFETY")},
			llm.Stop{Reason: llm.StopRefusal, Native: "SAFETY", Category: "safety"},
			"",
		},
		"blocked": {
			[]string{`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT","blockReasonMessage":"no"}}`},
			llm.Stop{
				Reason: llm.StopRefusal, Native: "PROHIBITED_CONTENT", Category: "prohibited_content",
				Explanation: "no",
			},
			"",
		},
		"malformed": {
			[]string{finish("MALFORMED_FUNCTION_CALL")},
			llm.Stop{Reason: llm.StopOther, Native: "MALFORMED_FUNCTION_CALL"},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _ := ask(t, "gemini-3-pro", hello(), llmtest.Reply{Body: sse(c.chunks...)})
			fine(t, got)
			if got.Stop != c.want || stored(got) != c.stored {
				t.Errorf("%q, %+v", stored(got), got.Stop)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	quota := `{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[` +
		`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"7.5s"}]}}`
	got, _ := ask(t, "gemini-3-pro", hello(), llmtest.Reply{Status: 429, Body: []byte(quota)})
	var api *llm.APIError
	if !errors.As(got.Err, &api) || api.RetryAfter != 7500*time.Millisecond || !api.Retryable ||
		api.Type != "RESOURCE_EXHAUSTED" {
		t.Errorf("the error is %#v", got.Err)
	}
	long := `{"error":{"code":400,"message":"The input token count (2000000) exceeds the maximum ` +
		`number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`
	got, _ = ask(t, "gemini-3-pro", hello(), llmtest.Reply{Status: 400, Body: []byte(long)})
	var overflow *llm.OverflowError
	if !errors.As(got.Err, &overflow) {
		t.Errorf("the error is %#v", got.Err)
	}
}

// TestKey checks that the key, if any, is sent in the provider's header.
func TestKey(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "key"} {
		s := llmtest.Serve(t, llmtest.Reply{Body: sse(parts(text("Hi")), finish("STOP"))})
		at := s.Endpoint(t, wire.FormatGemini)
		at.Key, at.UserAgent = key, "git-jp"
		fine(t, llmtest.Collect(gemini.New("gemini-3-pro", at).Stream(t.Context(), hello())))
		h := s.Sent()[0].Header
		if h.Get("X-Goog-Api-Key") != key || h.Get("User-Agent") != "git-jp" {
			t.Errorf("with the key %q, sent %v", key, h)
		}
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	pages := []llmtest.Reply{
		{Body: []byte(`{"models":[{"name":"models/gemini-3-pro","displayName":"G","inputTokenLimit":1000,` +
			`"outputTokenLimit":100,"supportedGenerationMethods":["generateContent"],"thinking":true}],` +
			`"nextPageToken":"n"}`)},
		{Body: []byte(`{"models":[{"name":"models/embedding","supportedGenerationMethods":["embed"]}]}`)},
	}
	s := llmtest.Serve(t, pages...)
	m := gemini.New("gemini-3-pro", s.Endpoint(t, wire.FormatGemini))
	infos, err := m.Models(t.Context())
	want := llm.Info{
		ID: "gemini-3-pro", Title: "G", Window: 1000, MaxOutput: 100, Reasoning: true, Tools: true,
		Accepts: llm.Inputs{Images: true, PDFs: true, Audio: true},
	}
	if err != nil || len(infos) != 1 || infos[0] != want || len(s.Sent()) != 2 {
		t.Errorf("%+v, %v", infos, err)
	}
	one := llmtest.Serve(t, llmtest.Reply{Body: []byte(`{"name":"models/gemini-3-pro","inputTokenLimit":7}`)})
	i, err := gemini.New("gemini-3-pro", one.Endpoint(t, wire.FormatGemini)).Describe(t.Context())
	if err != nil || i.Window != 7 || one.Sent()[0].Path != "/v1beta/models/gemini-3-pro" {
		t.Errorf("%+v, %v", i, err)
	}
}

// TestOpenConnection checks that the answer ends with the provider's last chunk, even if the
// connection stays open.
func TestOpenConnection(t *testing.T) {
	t.Parallel()
	got, _ := ask(t, "gemini-3-pro", hello(), llmtest.Reply{
		Body: sse(parts(text("Hi")), finish("STOP")), Hang: true,
	})
	fine(t, got)
}

// TestBrokenUsage verifies that an answer that ends early has the usage that was reported until
// then, without figures below zero.
func TestBrokenUsage(t *testing.T) {
	chunk := parts(text("Hi"))
	for counts, want := range map[string]llm.Usage{
		`"promptTokenCount":100`:                           {Input: 100},
		`"promptTokenCount":100,"candidatesTokenCount":-7`: {Input: 100},
	} {
		body := sse(strings.Replace(chunk, `"promptTokenCount":100`, counts, 1))
		at := llmtest.Serve(t, llmtest.Reply{Body: body}).Endpoint(t, wire.FormatGemini)
		got := llmtest.Collect(gemini.New("gemini-3-x", at).Stream(t.Context(), hello()))
		want.Model = "gemini-3-x"
		if _, cut := errors.AsType[*wire.CutError](got.Err); !cut || got.Usage != want {
			t.Errorf("%s: usage %+v, error %v", counts, got.Usage, got.Err)
		}
	}
}

// TestOddMembers verifies that members of other types do not lose an answer.
func TestOddMembers(t *testing.T) {
	end := strings.Replace(finish("STOP"), `"promptTokenCount":100`, `"promptTokenCount":"100"`, 1)
	odd := `{"candidates":[{"index":"0","content":"x"}],"usageMetadata":{"promptTokenCount":1.5}}`
	body := sse(odd, parts(`{"text":5}`, `7`, text("Hi")), end)
	at := llmtest.Serve(t, llmtest.Reply{Body: body}).Endpoint(t, wire.FormatGemini)
	got := llmtest.Collect(gemini.New("gemini-3-x", at).Stream(t.Context(), hello()))
	if got.Err != nil || got.Text() != "Hi" || got.Usage.Output != 12 || len(got.Faults) > 0 {
		t.Errorf("%q, usage %+v, error %v", got.Text(), got.Usage, got.Err)
	}
}
