package anthropic_test

import (
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/anthropic"
	"github.com/git-jp/git-jp/internal/llm/llmtest"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/git-jp/git-jp/internal/realdata"
	"github.com/google/go-cmp/cmp"
)

// answers sends a request to a server that replies with the bodies, and returns the answer and the
// sent requests.
func answers(
	t *testing.T, r *llm.Request, bodies ...[]byte,
) (llmtest.Transcript, []llmtest.Sent) {
	t.Helper()
	replies := make([]llmtest.Reply, len(bodies))
	for i, b := range bodies {
		replies[i] = llmtest.Reply{Body: b, Chunk: llmtest.Odd}
	}
	server := llmtest.Serve(t, replies...)
	at := server.Endpoint(t, wire.FormatAnthropic)
	got := llmtest.Collect(model(haiku)(at).Stream(t.Context(), r))
	if len(got.Faults) > 0 {
		t.Errorf("faults: %q", got.Faults)
	}
	return got, server.Sent()
}

func toolUse(index, id, name string, fragments ...string) []string {
	out := []string{`{"type":"content_block_start","index":` + index + `,"content_block":{"type":"tool_use","id":"` +
		id + `","name":"` + name + `","input":{}}}`}
	for _, f := range fragments {
		out = append(out, `{"type":"content_block_delta","index":`+index+
			`,"delta":{"type":"input_json_delta","partial_json":`+quote(f)+`}}`)
	}
	return append(out, `{"type":"content_block_stop","index":`+index+`}`)
}

func quote(s string) string {
	return strings.ReplaceAll(`"`+strings.ReplaceAll(s, `"`, `\"`)+`"`, "\n", `\n`)
}

func TestParallelCalls(t *testing.T) {
	r := uncached(user(say("q")))
	r.Tools = []llm.Tool{{Name: "fs.read"}}
	// The parts interleave, which the format allows.
	a, b := toolUse("0", "toolu_1", "fs_read", `{"p":`, `"a"}`), toolUse("1", "toolu_2", "invented")
	got, _ := answers(t, r, reply("tool_use", a[0], b[0], a[1], a[2], b[1], a[3]))
	var calls []events.ToolCallRequest
	for _, c := range got.Calls() {
		calls = append(calls, *c)
	}
	want := []events.ToolCallRequest{
		{ID: "toolu_2", Name: "invented", Arguments: []byte(`{}`)},
		{ID: "toolu_1", Name: "fs.read", Arguments: []byte(`{"p":"a"}`)},
	}
	if diff := cmp.Diff(want, calls); diff != "" || got.Stop.Reason != llm.StopTools {
		t.Errorf("stop %v (-want +got):\n%s", got.Stop, diff)
	}
	if want := (llm.Usage{Input: 3, Output: 9, CacheRead: 2, CacheWrite: 4, Model: haiku}); got.Usage != want {
		t.Errorf("usage %+v", got.Usage)
	}
}

func TestBrokenArguments(t *testing.T) {
	broken := toolUse("0", "toolu_1", "x", `{"p":"a`)
	got, _ := answers(t, uncached(user(say("q"))), reply("tool_use", broken...))
	if calls := got.Calls(); len(calls) != 1 || string(calls[0].Arguments) != "{}" {
		t.Errorf("broken arguments make %+v", calls)
	}
	got, sent := answers(t, uncached(user(say("q"))), reply("max_tokens", broken...))
	if len(got.Calls()) != 0 || got.Stop.Reason != llm.StopMaxTokens || len(sent) != 1 {
		t.Errorf("a call that was cut off makes %+v, %+v, %d exchanges", got.Calls(), got.Stop, len(sent))
	}
}

func TestRefusal(t *testing.T) {
	refusal := sse(append(append([]string{messageStart}, text("I")...),
		`{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","category":"cyber","explanation":"no"}},"usage":{"output_tokens":2}}`,
		`{"type":"message_stop"}`)...)
	got, _ := answers(t, uncached(user(say("q"))), refusal)
	want := llm.Stop{Reason: llm.StopRefusal, Native: "refusal", Category: "cyber", Explanation: "no"}
	if got.Stop != want {
		t.Errorf("a refusal is %+v", got.Stop)
	}
}

// TestRefusalAfterMore checks that the text from before the refused exchange is reported as kept.
func TestRefusalAfterMore(t *testing.T) {
	got, _ := answers(t, uncached(user(say("q"))),
		reply("max_tokens", text("The quick brown fox ", "jumps")...),
		reply("refusal", text("fox jumps", " over")...))
	if got.Text() != "The quick brown fox jumps over" {
		t.Errorf("it says %q", got.Text())
	}
	if want := (llm.Kept{Bytes: len("The quick brown fox jumps")}); got.Stop.Kept != want {
		t.Errorf("what is kept is %+v", got.Stop.Kept)
	}
}

func TestStops(t *testing.T) {
	for native, want := range map[string]llm.StopReason{
		"end_turn": llm.StopEnd, "stop_sequence": llm.StopSequence, "pause_turn": llm.StopOther,
		"model_context_window_exceeded": llm.StopOverflow, "": llm.StopOther,
	} {
		got, _ := answers(t, uncached(user(say("q"))), reply(native, text("a")...))
		if got.Stop.Reason != want || got.Stop.Native != native {
			t.Errorf("%q is %+v", native, got.Stop)
		}
	}
}

func TestGoesOn(t *testing.T) {
	r := uncached(user(say("q")))
	got, sent := answers(t, r,
		reply("max_tokens", text("The quick brown fox ", "jumps")...),
		reply("max_tokens", text("\n fox jumps", " over")...),
		reply("end_turn", text("nothing repeated")...))
	if got.Text() != "The quick brown fox jumps overnothing repeated" || len(got.Ends) != 1 {
		t.Errorf("joined, it says %q in %d parts", got.Text(), len(got.Ends))
	}
	if len(sent) != 3 || got.Usage.Output != 27 || got.Stop.Reason != llm.StopEnd {
		t.Errorf("%d exchanges, %+v, %+v", len(sent), got.Usage, got.Stop)
	}
	messages := llmtest.Decoded(sent[2].Body)["messages"].([]any)
	if len(messages) != 5 {
		t.Errorf("the third exchange has %d messages", len(messages))
	}
}

func TestGoesOnNoLonger(t *testing.T) {
	got, sent := answers(t, uncached(user(say("q"))), reply("max_tokens", text("again and again")...))
	if len(sent) != 3 || got.Stop.Reason != llm.StopMaxTokens {
		t.Errorf("%d exchanges, %+v", len(sent), got.Stop)
	}
	r := uncached(user(say("q")))
	r.Schema = []byte(`{"type":"object"}`)
	got, sent = answers(t, r, reply("max_tokens", text(`{"a":`)...))
	if len(sent) != 1 || got.Stop.Reason != llm.StopMaxTokens {
		t.Errorf("half a value: %d exchanges, %+v", len(sent), got.Stop)
	}
}

// TestForcedToolIsInsistedOn checks that a model that thinks is asked for a call in words, and that
// a model that does not call is asked once more, with the call forced.
func TestForcedToolIsInsistedOn(t *testing.T) {
	thinks := []string{
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"deep","signature":"S"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"I would rather talk."}}`,
		`{"type":"content_block_stop","index":1}`,
	}
	talks := reply("end_turn", thinks...)
	calls := reply("tool_use", toolUse("0", "toolu_1", "f", `{}`)...)
	for name, c := range map[string]struct {
		model   string
		choice  llm.ToolChoice
		replies [][]byte
		// of the last request
		thinking, forced string
	}{
		"heard": {haiku, llm.ToolChoice{Mode: llm.ChoiceRequired}, [][]byte{calls}, "enabled", "auto"},
		"any": {
			haiku,
			llm.ToolChoice{Mode: llm.ChoiceRequired},
			[][]byte{talks, calls},
			"disabled", "any",
		},
		"one of two": {
			"claude-opus-4-6",
			llm.ToolChoice{Mode: llm.ChoiceTool, Name: "f"},
			[][]byte{talks, calls},
			"disabled", "tool",
		},
		"never": {
			haiku,
			llm.ToolChoice{Mode: llm.ChoiceRequired},
			[][]byte{talks, talks},
			"disabled", "any",
		},
		"always thinking": {
			"claude-fable-5",
			llm.ToolChoice{Mode: llm.ChoiceRequired},
			[][]byte{talks, talks, calls},
			"adaptive", "auto",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := uncached(user(say("q")))
			r.Tools, r.Choice = []llm.Tool{{Name: "f"}, {Name: "g"}}, c.choice
			r.Params.Reasoning = llm.ReasoningParams{Mode: llm.ReasoningEffort, Effort: llm.EffortLow}
			var replies []llmtest.Reply
			for _, b := range append(c.replies, talks) { // one more than may be requested
				replies = append(replies, llmtest.Reply{Body: b, Chunk: llmtest.Odd})
			}
			server := llmtest.Serve(t, replies...)
			at := server.Endpoint(t, wire.FormatAnthropic)
			got := llmtest.Collect(model(c.model)(at).Stream(t.Context(), r))
			sent := server.Sent()
			if got.Err != nil || len(got.Faults) > 0 || len(sent) != len(c.replies) {
				t.Fatalf("%v, %q after %d requests", got.Err, got.Faults, len(sent))
			}
			w := decode(t, sent[len(sent)-1].Body)
			thinking := ""
			if w.Thinking != nil {
				thinking = w.Thinking.Type
			}
			if thinking != c.thinking || w.Choice.Type != c.forced {
				t.Errorf("at last thinking is %q and the choice %q", thinking, w.Choice.Type)
			}
			if want := 1 + 2*(len(sent)-1); len(w.Messages) != want {
				t.Errorf("at last %d messages, want %d", len(w.Messages), want)
			}
			if called := len(got.Calls()) == 1; called == (name == "never") {
				t.Errorf("%d calls, %+v", len(got.Calls()), got.Stop)
			}
		})
	}
}

// TestRefusalAfterInsisting checks that the text from before the refused exchange is kept.
func TestRefusalAfterInsisting(t *testing.T) {
	r := uncached(user(say("q")))
	r.Tools, r.Choice.Mode = []llm.Tool{{Name: "f"}}, llm.ChoiceRequired
	r.Params.Reasoning = llm.ReasoningParams{Mode: llm.ReasoningEffort, Effort: llm.EffortLow}
	got, sent := answers(t, r, reply("end_turn", text("I talk")...), reply("refusal", text("No")...))
	if want := (llm.Kept{Bytes: len("I talk")}); len(sent) != 2 || got.Stop.Kept != want {
		t.Errorf("after %d requests what is kept is %+v", len(sent), got.Stop.Kept)
	}
}

// TestServerBlocksAreNotSaidAgain checks that the work of a server's tool is not sent as the
// model's text when the answer continues.
func TestServerBlocksAreNotSaidAgain(t *testing.T) {
	_, sent := answers(t, uncached(user(say("q"))), reply("max_tokens", append([]string{
		`{"type":"content_block_start","index":1,"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"secret\":1}"}}`,
		`{"type":"content_block_stop","index":1}`,
	}, text("a longer text")...)...), reply("end_turn", text("text, done")...))
	if len(sent) != 2 || strings.Contains(string(sent[1].Body), "secret") {
		t.Errorf("%d requests, the last is %s", len(sent), sent[len(sent)-1].Body)
	}
}

// TestSignatureRefused checks that the conversation continues if the provider refuses a signature:
// the request is sent again with the thinking as text.
func TestSignatureRefused(t *testing.T) {
	r := uncached(user(say("q")), assistant("", thought("deep", "stale"), say("a")), user(say("r")))
	server := llmtest.Serve(t,
		llmtest.Reply{Status: 400, Body: []byte(`{"type":"error","error":{"type":"invalid_request_error",` +
			`"message":"messages.1.content.0: Invalid ` + "`signature` in `thinking`" + ` block"}}`)},
		llmtest.Reply{Body: reply("end_turn", text("b")...)})
	got := llmtest.Collect(model(haiku)(server.Endpoint(t, wire.FormatAnthropic)).Stream(t.Context(), r))
	if got.Err != nil || got.Text() != "b" {
		t.Fatalf("it says %q and ends with %v", got.Text(), got.Err)
	}
	if body := string(server.Sent()[1].Body); strings.Contains(body, "stale") || !strings.Contains(body, "deep") {
		t.Errorf("sent again: %s", body)
	}
}

func TestServerBlocksAreSkipped(t *testing.T) {
	got, _ := answers(t, uncached(user(say("q"))), reply("end_turn", append([]string{
		`{"type":"content_block_start","index":1,"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}`,
		`{"type":"content_block_stop","index":1}`, `{"type":"a_new_kind_of_event"}`,
	}, text("a")...)...))
	if got.Err != nil || got.Text() != "a" || len(got.Ends) != 1 {
		t.Errorf("it says %q in %d parts and ends with %v", got.Text(), len(got.Ends), got.Err)
	}
}

func TestCatalog(t *testing.T) {
	dir := realdata.Dir(t, "cassettes", "anthropic")
	serve := func(file string) *anthropic.Model {
		exchanges := llmtest.Cassette(t, filepath.Join(dir, file))
		at := llmtest.Serve(t, llmtest.Script(exchanges, llmtest.Odd)...).Endpoint(t, wire.FormatAnthropic)
		return anthropic.New(haiku, at, anthropic.Options{})
	}
	infos, err := serve("test_models.yml").Models(t.Context())
	if err != nil || len(infos) < 5 || infos[0].ID != "anthropic/claude-opus-5" || infos[0].Window != 1_000_000 {
		t.Errorf("models: %v, %+v", err, infos)
	}
	info, err := serve("test_model_details.yml").Describe(t.Context())
	want := llm.Info{
		ID: "anthropic/" + haiku, Title: "Claude Haiku 4.5", Window: 200_000, MaxOutput: 64_000,
		Accepts: llm.Inputs{Images: true, PDFs: true}, Reasoning: true, Tools: true,
	}
	if err != nil || info != want {
		t.Errorf("model: %v, %+v", err, info)
	}
	at := llmtest.Serve(t, llmtest.Reply{Status: 401, Body: []byte(`{"error":{"type":"authentication_error","message":"bad key"}}`)}).
		Endpoint(t, wire.FormatAnthropic)
	_, err = anthropic.New(haiku, at, anthropic.Options{}).Describe(t.Context())
	var api *llm.APIError
	if !errors.As(err, &api) || api.Status != 401 || api.Message != "bad key" {
		t.Errorf("with a bad key: %v", err)
	}
}

// TestUnknownModelsAreLookedUp checks that an answer of a model with an unknown name may be as long
// as the provider lists, and that the provider is not asked for other models or if the user sets a
// limit.
func TestUnknownModelsAreLookedUp(t *testing.T) {
	listed := llmtest.Reply{
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   []byte(`{"type":"model","id":"claude-next-7","display_name":"Next","max_input_tokens":9000,"max_tokens":4000}`),
	}
	none := llmtest.Reply{Status: http.StatusNotFound, Body: []byte(`{}`)}
	for _, c := range []struct {
		name    string
		most    int
		first   llmtest.Reply
		lookups int
		want    string
	}{
		{"claude-next-7", 0, listed, 1, `"max_tokens":4000`},
		{"claude-next-7", 0, none, 1, `"max_tokens":128000`},
		{"claude-next-7", 7000, listed, 0, `"max_tokens":7000`},
		{newest, 0, listed, 0, `"max_tokens":128000`},
		{haiku, 0, listed, 0, `"max_tokens":64000`},
	} {
		said := llmtest.Reply{Body: reply("end_turn", text("a")...)}
		replies := []llmtest.Reply{c.first, said}[1-c.lookups:]
		server := llmtest.Serve(t, replies...)
		r := uncached(user(say("q")))
		r.Params.MaxTokens = c.most
		got := llmtest.Collect(model(c.name)(server.Endpoint(t, wire.FormatAnthropic)).Stream(t.Context(), r))
		sent := server.Sent()
		if got.Text() != "a" || len(sent) != c.lookups+1 || !strings.Contains(string(sent[c.lookups].Body), c.want) {
			t.Errorf("%s: %v after %d requests, no %s", c.name, got.Err, len(sent), c.want)
		}
	}
}

// TestThinkingAtOnce checks that thinking in one piece, and events of unknown forms, are read.
func TestThinkingAtOnce(t *testing.T) {
	got, _ := answers(t, uncached(user(say("q"))), reply("end_turn",
		`{"type":"news","index":"first","delta":"none","content_block":7}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"deep","signature":"S"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"a"}}`,
		`{"type":"content_block_stop","index":1}`))
	if got.Err != nil || got.Text() != "a" || len(got.Ends) != 2 {
		t.Fatalf("it says %q in %d parts and ends with %v", got.Text(), len(got.Ends), got.Err)
	}
	if s, _ := got.Ends[0].Metadata.Text(llm.MetadataAnthropicSignature); s != "S" {
		t.Errorf("the signature is %q", s)
	}
}

func started(index, block string) string {
	return `{"type":"content_block_start","index":` + index + `,"content_block":` + block + `}`
}

func fragment(index, kind, member, text string) string {
	return `{"type":"content_block_delta","index":` + index + `,"delta":{"type":"` + kind + `","` +
		member + `":` + quote(text) + `}}`
}

// TestBlocksInAnyForm checks that blocks that begin twice, that begin while another is open, that
// never begin or never end are read without repeating or losing text.
func TestBlocksInAnyForm(t *testing.T) {
	const empty = `{"type":"text","text":""}`
	more := func(index, s string) string { return fragment(index, "text_delta", "text", s) }
	tool := toolUse("0", "toolu_1", "n", `{"a":1}`)
	for name, tt := range map[string]struct {
		blocks []string
		want   string
	}{
		"begun twice":  {[]string{started("0", empty), started("0", empty), more("0", "1")}, "1"},
		"with text":    {[]string{started("0", `{"type":"text","text":"1"}`), started("0", `{"type":"text","text":"1"}`)}, "1"},
		"never ended":  {[]string{started("0", empty), more("0", "1"), started("0", empty), more("0", "2")}, "1, 2"},
		"never begun":  {[]string{more("0", "1"), fragment("1", "thinking_delta", "thinking", "2"), more("0", "3")}, "13, 2"},
		"a call twice": {[]string{tool[0], tool[1], tool[0], tool[2]}, `toolu_1 {"a":1}`},
		"two calls": {[]string{
			tool[0], tool[1], toolUse("0", "toolu_2", "n")[0],
			fragment("0", "input_json_delta", "partial_json", `{"b":2}`),
		}, `toolu_1 {"a":1}, toolu_2 {"b":2}`},
		"ended twice": {[]string{
			started("0", empty), more("0", "1"), `{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_stop","index":0}`, started("0", empty), more("0", "2"),
		}, "1, 2"},
	} {
		late := time.AfterFunc(10*time.Second, func() { panic(name + " does not end") })
		got, _ := answers(t, uncached(user(say("q"))), reply("end_turn", tt.blocks...))
		late.Stop()
		var said []string
		for _, d := range got.Ends {
			switch ev := d.Event.(type) {
			case *events.ChatResponse:
				said = append(said, ev.Text)
			case *events.ToolCallRequest:
				said = append(said, ev.ID+" "+string(ev.Arguments))
			}
		}
		if s := strings.Join(said, ", "); s != tt.want || got.Err != nil {
			t.Errorf("%s: said %s, want %s; %v", name, s, tt.want, got.Err)
		}
	}
}

// TestEmptySignature checks that an empty signature, which some servers send, does not count as
// one.
func TestEmptySignature(t *testing.T) {
	got, _ := answers(t, uncached(user(say("q"))), reply("end_turn",
		started("0", `{"type":"thinking","thinking":"","signature":""}`),
		fragment("0", "thinking_delta", "thinking", "so"),
		fragment("0", "signature_delta", "signature", ""),
		`{"type":"content_block_stop","index":0}`,
		started("1", `{"type":"redacted_thinking","data":""}`),
		`{"type":"content_block_stop","index":1}`,
	))
	if len(got.Ends) != 1 || got.Ends[0].Metadata.Len() != 0 {
		t.Errorf("it keeps %+v", got.Ends)
	}
}

// TestWithoutLastEvent verifies that an answer is complete once its stop reason is known: asking
// for the rest would be charged.
func TestWithoutLastEvent(t *testing.T) {
	whole := reply("end_turn", text("Hi")...)
	last := strings.Index(string(whole), "event: message_stop")
	for _, abort := range []bool{false, true} {
		r := llmtest.Reply{Body: whole[:last], Abort: abort}
		at := llmtest.Serve(t, r).Endpoint(t, wire.FormatAnthropic)
		got := llmtest.Collect(model(haiku)(at).Stream(t.Context(), uncached(user(say("q")))))
		if got.Err != nil || got.Text() != "Hi" || got.Stop.Reason != llm.StopEnd ||
			got.Usage.Output != 9 || len(got.Faults) > 0 {
			t.Errorf("abort %v: %q, %+v, %+v, error %v", abort, got.Text(), got.Stop, got.Usage, got.Err)
		}
	}
}

// TestBrokenUsage verifies that an answer that ends early has the usage that was reported until
// then, also without output, and if it is repeated.
func TestBrokenUsage(t *testing.T) {
	begun := sse(messageStart, text("Hi")[0], text("Hi")[1])
	got, _ := answers(t, uncached(user(say("q"))), begun)
	want := llm.Usage{Input: 3, Output: 1, CacheRead: 2, CacheWrite: 4, Model: haiku}
	if _, cut := errors.AsType[*wire.CutError](got.Err); !cut || got.Usage != want {
		t.Errorf("usage %+v, error %v", got.Usage, got.Err)
	}
	got, _ = answers(t, uncached(user(say("q"))), sse(messageStart))
	if got.Err == nil || got.Usage != want {
		t.Errorf("without output: usage %+v, error %v", got.Usage, got.Err)
	}
}
