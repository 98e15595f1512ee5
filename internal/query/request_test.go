package query_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/anthropic"
	"github.com/git-jp/git-jp/internal/llm/chat"
	"github.com/git-jp/git-jp/internal/llm/gemini"
	"github.com/git-jp/git-jp/internal/llm/llmtest"
	"github.com/git-jp/git-jp/internal/llm/ollama"
	"github.com/git-jp/git-jp/internal/llm/openai"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// noBlobs is an empty store.
type noBlobs struct{}

func (noBlobs) Read(blobs.Ref) ([]byte, error) { return nil, errNoBlobs }

var errNoBlobs = errors.New("no blobs here")

func tools() []tool.Definition {
	return []tool.Definition{{
		Name: "fs_read_file", Summary: "Reads a file.",
		Schema: jsontext.Value(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`),
	}}
}

// source returns the source of a request for a stored stream.
func source(t interface{ Fatal(...any) }, stored *events.Stream) query.Source {
	view := query.View(stored)
	plan, err := dedup.New(view, dedup.Options{
		Enabled: true, MinBytes: 30, Lookback: 30, Lines: true,
	}, noBlobs{})
	if err != nil {
		t.Fatal(err)
	}
	return query.Source{
		View: view, Plan: plan, Contents: noBlobs{}, Tools: tools(),
		Setup: query.Setup{System: []string{"Be brief."}, Speaker: speaker},
		Root:  "/home/ada/project",
	}
}

// An adapter encodes requests for one provider.
type adapter struct {
	format wire.Format
	model  func(at llm.Endpoint) llm.Model
}

func adapters() map[string]adapter {
	openAI := func(name, provider string) adapter {
		return adapter{wire.FormatChat, func(at llm.Endpoint) llm.Model {
			at.Provider = provider
			return chat.New(name, at)
		}}
	}
	return map[string]adapter{
		"anthropic": {wire.FormatAnthropic, func(at llm.Endpoint) llm.Model {
			at.Provider = "anthropic"
			return anthropic.New("claude-sonnet-4-6", at, anthropic.Options{})
		}},
		"openai": {wire.FormatResponses, func(at llm.Endpoint) llm.Model {
			at.Provider = "openai"
			return openai.New("gpt-5.6-sol", at)
		}},
		"gemini": {wire.FormatGemini, func(at llm.Endpoint) llm.Model {
			at.Provider = "google"
			return gemini.New("gemini-3-pro-preview", at)
		}},
		"openrouter": openAI("anthropic/claude", "openrouter"),
		// The rules of some models follow their names, whichever server they run on.
		"openrouter's deepseek": openAI("deepseek/deepseek-v4", "openrouter"),
		"openrouter's mistral":  openAI("mistralai/mistral-large", "openrouter"),
		"deepseek":              openAI("deepseek-v4-pro", "deepseek"),
		"mistral":               openAI("mistral-small-latest", "mistral"),
		"xai":                   openAI("grok-4", "xai"),
		"cerebras":              openAI("gpt-oss-120b", "cerebras"),
		"llamacpp":              openAI("qwen3", "llamacpp"),
		"llamacpp's deepseek":   openAI("DeepSeek-R1-Q4", "llamacpp"),
		"vllm's mistral":        openAI("Devstral-Small", "vllm"),
		"lmstudio":              openAI("deepseek-r1-distill", "lmstudio"),
		"somebody's":            openAI("deepseek-v4-flash", "gateway"),
		"claude with a budget": {wire.FormatAnthropic, func(at llm.Endpoint) llm.Model {
			at.Provider = "anthropic"
			return anthropic.New("claude-haiku-4-5", at, anthropic.Options{})
		}},
		"claude that thinks": {wire.FormatAnthropic, func(at llm.Endpoint) llm.Model {
			at.Provider = "anthropic"
			return anthropic.New("claude-fable-5", at, anthropic.Options{})
		}},
		"ollama": {wire.FormatOllama, func(at llm.Endpoint) llm.Model {
			return ollama.New("qwen3:8b", at)
		}},
	}
}

// A receiver accepts requests in place of a provider. It refuses each of them with an error upon
// which adapters leave out what is signed, so that the unsigned request is checked by the rules
// too.
type receiver struct{ bodies [][]byte }

func (w *receiver) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err // like a transport, before anything is sent
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	w.bodies = append(w.bodies, body)
	return &http.Response{
		StatusCode: http.StatusBadRequest, Header: http.Header{}, Request: r,
		Body: io.NopCloser(strings.NewReader(`{"error":{"type":"seen","message":"a signature of thinking"}}`)),
	}, nil
}

// send encodes a request by the adapter and returns the body.
func (a adapter) send(r *llm.Request) (body []byte, err error) {
	w := &receiver{}
	at := llm.Endpoint{
		BaseURL: "http://127.0.0.1:9", Key: "key",
		Client: wire.NewClient(wire.ClientOptions{Format: a.format, Base: w}),
	}
	for _, e := range a.model(at).Stream(context.Background(), r) {
		err = e
	}
	if len(w.bodies) == 0 {
		return nil, fmt.Errorf("nothing was sent: %w", err)
	}
	if invalid, ok := errors.AsType[*wire.InvalidError](err); ok {
		return nil, fmt.Errorf("without signatures: %w", invalid)
	}
	return w.bodies[0], nil
}

// takes asks the adapter whether it accepts a request, before anything is sent.
func (a adapter) takes(r *llm.Request) error {
	w := &receiver{}
	client := wire.NewClient(wire.ClientOptions{Format: a.format, Base: w})
	err := llm.Takes(a.model(llm.Endpoint{BaseURL: "http://127.0.0.1:9", Key: "key", Client: client}), r)
	if len(w.bodies) > 0 {
		return fmt.Errorf("%s was sent", w.bodies)
	}
	return err
}

// TestEveryProviderTakesAnyConversation sends arbitrary conversations through the real
// adapters to the checker of each provider's rules.
func TestEveryProviderTakesAnyConversation(t *testing.T) {
	for name, a := range adapters() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				stored := conversation().Draw(t, "conversation")
				src := source(t, stored)
				src.Setup.Params, src.Setup.Choice = wishes(t)
				request, err := query.Build(src)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := a.send(request); err != nil {
					t.Fatalf("%v\n%+v\n%s", err, src.Setup, stored.Encode())
				}
			})
		})
	}
}

// wishes draws parameters of a request.
func wishes(t *rapid.T) (llm.Params, llm.ToolChoice) {
	half := 0.5
	p := llm.Params{
		MaxTokens: rapid.SampledFrom([]int{0, 500, 4096}).Draw(t, "limit"),
		Reasoning: llm.ReasoningParams{
			Mode:   llm.ReasoningMode(rapid.IntRange(0, 4).Draw(t, "reasoning")),
			Effort: rapid.SampledFrom([]llm.Effort{llm.EffortNone, llm.EffortLow, llm.EffortMax}).Draw(t, "effort"),
			Budget: rapid.SampledFrom([]int{0, 100, 2000, 100_000}).Draw(t, "budget"),
		},
	}
	if rapid.Bool().Draw(t, "temperature") {
		p.Temperature = &half
	}
	return p, llm.ToolChoice{
		Mode: llm.ChoiceMode(rapid.IntRange(0, 3).Draw(t, "choice")), Name: "fs_read_file",
	}
}

// goOn is sent if the model's message is the last.
const goOn = "Please continue from where you left off."

// same compares requests as values.
func same() cmp.Option {
	return cmp.Options{
		cmpopts.EquateEmpty(),
		cmp.Comparer(func(a, b events.Metadata) bool { return slices.Equal(a.Keys(), b.Keys()) }),
	}
}

// TestRequestsArePure builds a request twice, and checks that the stream does not change.
func TestRequestsArePure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stored := conversation().Draw(t, "conversation")
		before := string(stored.Encode())
		one, err := query.Build(source(t, stored))
		if err != nil {
			t.Fatal(err)
		}
		two, err := query.Build(source(t, stored))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(one, two, same()); diff != "" {
			t.Fatalf("two builds differ:\n%s", diff)
		}
		if after := string(stored.Encode()); after != before {
			t.Fatalf("the stream changed:\n%s\n%s", before, after)
		}
	})
}

// TestSentPromptsKeepTheirMessages asks again at the end of a conversation: the earlier request is
// the prefix of the later one, for every provider as its cache counts it.
func TestSentPromptsKeepTheirMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stored := conversation().Draw(t, "conversation")
		src := source(t, stored)
		before, err := query.Build(src)
		if err != nil {
			t.Fatal(err)
		}
		src.Plan.Store(src.View, stored)
		w := &writer{t: t, n: 3000}
		w.event("turn_start", "")
		w.event("chat_request", `,"content":"more"`)
		w.say()
		w.event("chat_request", `,"content":"and more"`)
		more, err := events.Decode([]byte("[" + strings.Join(w.elems, ",") + "]"))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range more.All() {
			stored.Append(e)
		}
		after, err := query.Build(source(t, stored))
		if err != nil {
			t.Fatal(err)
		}
		n := len(before.Messages)
		if last, ok := before.Messages[n-1].Parts[0].(llm.Text); ok && last.Text == goOn {
			n-- // sent only because nothing else was
		}
		if diff := cmp.Diff(before.Messages[:n], after.Messages[:n], same()); diff != "" {
			t.Fatalf("what was sent changed:\n%s\n%s", diff, stored.Encode())
		}
		if n < len(before.Messages) {
			return
		}
		// The schema of an answer counts only for providers that say so, and belongs to one answer.
		before.Schema, after.Schema = nil, nil
		for name, a := range adapters() {
			if err := a.continues(before, after); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, stored.Encode())
			}
		}
	})
}

// continues reports whether the body of a request begins with the prompt of an earlier one.
func (a adapter) continues(earlier, later *llm.Request) error {
	var prompts [2]llmtest.Prompt
	for i, r := range []*llm.Request{earlier, later} {
		body, err := a.send(r)
		if err != nil {
			return err
		}
		if prompts[i], err = llmtest.PromptOf(a.format, body); err != nil {
			return err
		}
	}
	return prompts[1].Continues(prompts[0])
}

func sum(text string) string { return blobs.Sum([]byte(text)).String()[:12] }

// TestToolsOfARequestStay checks that the tools in each request of a conversation have the same
// bytes, for every provider: the prompt begins with them.
func TestToolsOfARequestStay(t *testing.T) {
	first, compared := map[string]string{}, 0
	rapid.Check(t, func(t *rapid.T) {
		s := conversation().Draw(t, "conversation")
		part := rapid.IntRange(1, s.Len()).Draw(t, "part")
		request, err := query.Build(source(t, events.New(slices.Collect(elements(s, part))...)))
		if errors.Is(err, query.ErrNothingAsked) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for name, a := range adapters() {
			body, err := a.send(request)
			if err != nil {
				t.Fatal(err)
			}
			var sent struct {
				Tools json.RawMessage `json:"tools"`
			}
			if err := json.Unmarshal(body, &sent); err != nil || len(sent.Tools) == 0 {
				t.Fatalf("%s: no tools in %s: %v", name, body, err)
			}
			if first[name] == "" {
				first[name] = string(sent.Tools)
			}
			if compared++; string(sent.Tools) != first[name] {
				t.Fatalf("%s: tools were %s, are %s", name, first[name], sent.Tools)
			}
		}
	})
	t.Logf("%d requests of %d adapters", compared, len(first))
}

// elements returns the first n elements of a stream.
func elements(s *events.Stream, n int) iter.Seq[*events.Element] {
	return func(yield func(*events.Element) bool) {
		for i, e := range s.All() {
			if i == n || !yield(e) {
				return
			}
		}
	}
}

// TestWhatIsToldOfAResource checks that every provider's request has the same facts about attached
// and returned resources: the URI by which references name it, its description, and the type of a
// text.
func TestWhatIsToldOfAResource(t *testing.T) {
	shown := map[string]string{
		"text/csv": "id;name", "image/png": "\x89PNG\r\n\x1a\n", "application/pdf": "%PDF-1.7\n\xff",
	}
	for name, a := range adapters() {
		for mime, content := range shown {
			r := &llm.Request{Messages: []llm.Message{{
				Role: llm.RoleUser, Parts: []llm.Part{sales(mime, content), llm.Text{Text: "?"}},
			}}}
			returned := &llm.Request{Messages: []llm.Message{
				{Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: "?"}}},
				{Role: llm.RoleAssistant, Parts: []llm.Part{llm.Call{ID: "c", Name: "sell"}}},
				{Role: llm.RoleUser, Parts: []llm.Part{llm.Result{
					CallID: "c", Name: "sell", Parts: []llm.Part{sales(mime, content)},
				}}},
			}}
			body, err := a.send(returned)
			if err != nil {
				t.Fatalf("%s: %s of a tool: %v", name, mime, err)
			}
			tells(t, name+"'s tools", mime, body)
			body, err = a.send(r)
			no := new(llm.UnsupportedError)
			if takes := a.takes(r); errors.As(err, &no) != errors.As(takes, &no) {
				t.Errorf("%s: %s: sending it is %v, and before it is %v", name, mime, err, takes)
			}
			if errors.As(err, &no) {
				if no.Name != "file:///d/sales" {
					t.Errorf("%s: refuses %s by the name %q", name, mime, no.Name)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s: %s: %v", name, mime, err)
			}
			tells(t, name, mime, body)
		}
	}
}

// tells checks that a request names the resource whose content it has.
func tells(t *testing.T, name, mime string, body []byte) {
	t.Helper()
	want := []string{"file:///d/sales", "Sales: by region"}
	if mime == "text/csv" {
		want = append(want, mime)
	}
	for _, w := range want {
		if !strings.Contains(string(body), w) {
			t.Errorf("%s: of %s there is no %q in %s", name, mime, w, body)
		}
	}
}

func sales(mime, content string) llm.Part {
	r := llm.Resource{
		URI: "file:///d/sales", MIME: mime, Title: "Sales", Description: "by region", Text: content,
	}
	if mime != "text/csv" {
		r.Text, r.Bytes = "", []byte(content)
	}
	return r
}

// TestDeltasOfARequestAreBounded checks that deltas which take too long to merge end the building
// of a request with the same error as everywhere.
func TestDeltasOfARequestAreBounded(t *testing.T) {
	view := events.New()
	for i := range 5000 {
		delta := fmt.Appendf(nil,
			`{"assistant":{"instructions":{"value":[{"title":"%d"}],"strategy":"append"}}}`, i)
		view.Append(events.NewElement(time.Unix(0, 0), &events.ConfigDelta{Delta: delta}, events.Metadata{}))
	}
	setup := query.Setup{Speaker: speaker}
	if _, err := query.Build(query.Source{View: view, Setup: setup}); !errors.Is(err, settings.ErrWork) {
		t.Errorf("error is %v", err)
	}
}
