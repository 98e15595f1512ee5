package openai_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/llmtest"
	"github.com/git-jp/git-jp/internal/llm/openai"
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

// sse encodes a stream of events with these data.
func sse(data ...string) []byte {
	var b strings.Builder
	for _, d := range data {
		b.WriteString("data: " + d + "\n\n")
	}
	return []byte(b.String())
}

const (
	begin = `{"type":"response.output_item.added","output_index":0,` +
		`"item":{"type":"message","id":"msg_1","role":"assistant","content":[]}}`
	fragment = `{"type":"response.output_text.delta","output_index":0,"delta":"Hi"}`
	end      = `{"type":"response.output_item.done","output_index":0,"item":{"type":"message",` +
		`"id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"Hi"}]}}`
	completed = `{"type":"response.completed","response":{"model":"gpt-5-2025","status":"completed",` +
		`"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60,"cache_write_tokens":10},` +
		`"output_tokens":7,"output_tokens_details":{"reasoning_tokens":5},"total_tokens":107}}}`
)

func whole() []byte { return sse(begin, fragment, end, completed) }

// ask sends a request to a server with scripted replies.
func ask(t *testing.T, r *llm.Request, replies ...llmtest.Reply) (llmtest.Transcript, *llmtest.Server) {
	t.Helper()
	s := llmtest.Serve(t, replies...)
	m := openai.New("gpt-5", s.Endpoint(t, wire.FormatResponses))
	return llmtest.Collect(m.Stream(t.Context(), r)), s
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	got, s := ask(t, hello(), llmtest.Reply{Body: whole(), Chunk: llmtest.Bytewise})
	if got.Err != nil || len(got.Faults) > 0 || got.Text() != "Hi" {
		t.Fatalf("%q, %v, faults %q", got.Text(), got.Err, got.Faults)
	}
	want := llm.Usage{
		Input: 30, CacheRead: 60, CacheWrite: 10, Output: 7, Reasoning: 5, Model: "gpt-5-2025",
	}
	if got.Usage != want || got.Stop.Reason != llm.StopEnd {
		t.Errorf("usage %+v, stop %+v", got.Usage, got.Stop)
	}
	h := s.Sent()[0].Header
	if h.Get("Authorization") != "Bearer key" || h.Get("Accept") != "text/event-stream" {
		t.Errorf("sent with %v", h)
	}
}

func TestParallelCalls(t *testing.T) {
	t.Parallel()
	call := func(kind string, i int, args string) string {
		return fmt.Sprintf(`{"type":"response.output_item.%s","output_index":%d,"item":{`+
			`"type":"function_call","id":"fc_%d","call_id":"call_%d","name":"read_file","arguments":%q}}`,
			kind, i, i, i, args)
	}
	args := func(i int, text string) string {
		return fmt.Sprintf(`{"type":"response.function_call_arguments.delta","output_index":%d,"delta":%q}`,
			i, text)
	}
	body := sse(call("added", 0, ""), call("added", 1, ""), args(1, `{"p":`), args(0, `{"p":1}`),
		args(1, `2}`), call("done", 1, `{"p":2}`), call("done", 0, `{"p":1}`),
		call("done", 2, `{"p":3}`), completed)
	r := hello()
	r.Tools = []llm.Tool{{Name: "read.file", Schema: jsontext.Value(`{"type":"object"}`)}}
	got, s := ask(t, r, llmtest.Reply{Body: body})
	var calls []string
	for _, c := range got.Calls() {
		calls = append(calls, c.ID+" "+c.Name+" "+string(c.Arguments))
	}
	want := `call_1 read.file {"p":2}, call_0 read.file {"p":1}, call_2 read.file {"p":3}`
	if got := strings.Join(calls, ", "); got != want {
		t.Errorf("calls %s, want %s", got, want)
	}
	if got.Stop.Reason != llm.StopTools || got.Err != nil || len(got.Faults) > 0 {
		t.Errorf("stop %+v, %v, %q", got.Stop, got.Err, got.Faults)
	}
	if body := string(s.Sent()[0].Body); !strings.Contains(body, `"name":"read_file"`) {
		t.Errorf("the tool's name is not one that the provider takes: %s", body)
	}
}

func TestStops(t *testing.T) {
	t.Parallel()
	incomplete := func(reason string) string {
		return `{"type":"response.incomplete","response":{"status":"incomplete",` +
			`"incomplete_details":{"reason":"` + reason + `"}}}`
	}
	refusal := `{"type":"response.refusal.delta","output_index":0,"delta":"I will not."}`
	for name, c := range map[string]struct {
		body []byte
		want llm.Stop
		text string
	}{
		"max tokens": {
			sse(begin, fragment, incomplete("max_output_tokens")),
			llm.Stop{Reason: llm.StopMaxTokens, Native: "max_output_tokens"},
			"Hi",
		},
		"filter": {
			sse(begin, incomplete("content_filter")),
			llm.Stop{
				Reason: llm.StopRefusal, Native: "content_filter", Category: "content_filter",
			},
			"",
		},
		"refusal": {
			sse(begin, refusal, completed),
			llm.Stop{Reason: llm.StopRefusal, Native: "refusal", Explanation: "I will not."},
			"",
		},
		"complete refusal": {
			sse(`{"type":"response.output_item.done","output_index":0,"item":{"type":"message",`+
				`"content":[{"type":"refusal","refusal":"I will not."}]}}`, completed),
			llm.Stop{Reason: llm.StopRefusal, Native: "refusal", Explanation: "I will not."},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _ := ask(t, hello(), llmtest.Reply{Body: c.body})
			if got.Err != nil || got.Stop != c.want || got.Text() != c.text || len(got.Faults) > 0 {
				t.Errorf("%q, %+v, %v, %q", got.Text(), got.Stop, got.Err, got.Faults)
			}
		})
	}
}

// TestCutCall checks that a call whose arguments were cut off is dropped.
func TestCutCall(t *testing.T) {
	t.Parallel()
	added := `{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call",` +
		`"call_id":"call_1","name":"f","arguments":""}}`
	for end, want := range map[string]llm.StopReason{
		`"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}`: llm.StopMaxTokens,
		`"response.incomplete","response":{"incomplete_details":{"reason":"unheard_of"}}`:        llm.StopOther,
		`"response.cancelled","response":{}`:                                                     llm.StopOther,
	} {
		for _, fragment := range []string{"", `{\"a\":`, `{}`} {
			body := sse(added,
				`{"type":"response.function_call_arguments.delta","output_index":0,"delta":"`+fragment+`"}`,
				`{"type":`+end+`}`)
			got, _ := ask(t, hello(), llmtest.Reply{Body: body})
			if len(got.Calls()) != 0 || got.Stop.Reason != want || len(got.Faults) > 0 {
				t.Errorf("%s: calls %v, stop %+v, faults %q", end, got.Calls(), got.Stop, got.Faults)
			}
		}
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	limit := http.Header{"Retry-After": {"7"}}
	quota := []byte(`{"error":{"message":"Slow down","type":"requests","code":"rate_limit_exceeded"}}`)
	long := []byte(`{"error":{"message":"too long","type":"invalid_request_error",` +
		`"code":"context_length_exceeded"}}`)
	failed := `{"type":"response.failed","response":{"status":"failed","error":{` +
		`"code":"server_error","message":"broken"}}}`
	for name, c := range map[string]struct {
		reply llmtest.Reply
		check func(error) bool
	}{
		"rate limit": {
			llmtest.Reply{Status: 429, Header: limit, Body: quota},
			api(429, "rate_limit_exceeded", true),
		},
		"unavailable": {llmtest.Reply{Status: 503, Body: []byte("no")}, api(503, "", true)},
		"invalid": {
			llmtest.Reply{Status: 400, Body: []byte(`{"error":{"message":"x","type":"invalid_request_error"}}`)},
			api(400, "invalid_request_error", false),
		},
		"overflow": {llmtest.Reply{Status: 400, Body: long}, func(err error) bool {
			var o *llm.OverflowError
			return errors.As(err, &o)
		}},
		"event": {
			llmtest.Reply{Body: sse(begin, `{"type":"error","code":"server_error","message":"x"}`)},
			api(0, "server_error", true),
		},
		"nested event": {
			llmtest.Reply{Body: sse(`{"type":"error","error":{"type":"x","code":"server_error","message":"x"}}`)},
			api(0, "server_error", true),
		},
		"failed":    {llmtest.Reply{Body: sse(begin, failed)}, api(0, "server_error", true)},
		"truncated": {llmtest.Reply{Body: sse(begin, fragment)}, cut},
		"half":      {llmtest.Reply{Body: whole()[:len(whole())-9]}, cut},
		"aborted":   {llmtest.Reply{Body: sse(begin), Abort: true}, cut},
		"no events": {llmtest.Reply{Body: []byte("data: <html>\n\n")}, func(err error) bool {
			var w *llm.WireError
			return errors.As(err, &w)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _ := ask(t, hello(), c.reply)
			if !c.check(got.Err) {
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

// TestSummaryParts checks that the parts of a summary become paragraphs, and that reasoning that is
// not encrypted keeps no id.
func TestSummaryParts(t *testing.T) {
	t.Parallel()
	part := `{"type":"response.reasoning_summary_part.added","output_index":0}`
	delta := `{"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"so"}`
	item := `{"type":"response.output_item.%s","output_index":0,"item":{"type":"reasoning",` +
		`"id":"rs_1","summary":[]}}`
	got, _ := ask(t, hello(), llmtest.Reply{Body: sse(fmt.Sprintf(item, "added"), part, delta, part,
		delta, fmt.Sprintf(item, "done"), completed)})
	if len(got.Ends) != 1 {
		t.Fatalf("ends %+v", got.Ends)
	}
	r, ok := got.Ends[0].Event.(*events.ChatResponse)
	if !ok || r.Form != events.FormReasoning || r.Text != "so\n\nso" || got.Ends[0].Metadata.Len() != 0 {
		t.Errorf("%+v with %v", r, got.Ends[0].Metadata.Keys())
	}
}

// TestItemsInAnyForm reads items that servers identify by index, by id, by both or by neither,
// begin twice, or do not begin.
func TestItemsInAnyForm(t *testing.T) {
	t.Parallel()
	item := func(at, kind, id, text string) string {
		return fmt.Sprintf(`{"type":"response.output_item.%s",%s"item":{"type":"message","id":%q,`+
			`"content":[{"type":"output_text","text":%q}]}}`, kind, at, id, text)
	}
	call := func(at, kind, id, args string) string {
		return fmt.Sprintf(`{"type":"response.output_item.%s",%s"item":{"type":"function_call",`+
			`"id":"f%s","call_id":%q,"name":"n","arguments":%q}}`, kind, at, id, id, args)
	}
	delta := func(at, text string) string {
		return fmt.Sprintf(`{"type":"response.output_text.delta",%s"delta":%q}`, at, text)
	}
	args := func(at, text string) string {
		return fmt.Sprintf(`{"type":"response.function_call_arguments.delta",%s"delta":%q}`, at, text)
	}
	zero := `"output_index":0,`
	of := func(id string) string { return fmt.Sprintf(`"item_id":%q,`, id) }
	for name, tt := range map[string]struct {
		events []string
		want   string
	}{
		"ids only": {[]string{
			item("", "added", "a", ""), delta(of("a"), "1"), call("", "added", "c", ""),
			call("", "added", "d", ""), args(of("fd"), `{"d":1}`), args(of("fc"), `{"c":1}`),
			delta(of("a"), "2"), call("", "done", "c", `{"c":1}`), item("", "done", "a", "12"),
			call("", "done", "d", `{"d":1}`),
		}, `c {"c":1}, 12, d {"d":1}`},
		"all at index 0": {[]string{
			item(zero, "added", "a", ""), delta(zero+of("a"), "1"), item(zero, "added", "b", ""),
			delta(zero+of("b"), "2"), delta(zero+of("a"), "3"), item(zero, "done", "a", "13"),
			item(zero, "done", "b", "2"),
		}, "13, 2"},
		"neither": {[]string{
			item("", "added", "", ""), delta("", "1"), item("", "done", "", "1"),
			call("", "added", "c", ""), args("", `{"c":1}`), call("", "done", "c", `{"c":1}`),
		}, `1, c {"c":1}`},
		"begun twice": {[]string{
			item(zero, "added", "a", ""), item(zero, "added", "a", ""), delta(zero, "1"),
			item(zero, "added", "a", ""), delta(zero, "2"), item(zero, "done", "a", "12"),
		}, "12"},
		"never ended": {[]string{
			item("", "added", "a", ""), delta("", "1"), item("", "added", "b", ""), delta("", "2"),
		}, "1, 2"},
		"ended twice": {[]string{
			item(zero, "added", "a", ""), delta(zero, "1"), item(zero, "done", "a", "1"),
			item(zero, "done", "a", "1"), call(zero, "done", "c", `{}`), call(zero, "done", "c", `{}`),
		}, "1, c {}"},
		"ended before it was said": {[]string{
			item(zero, "done", "a", "12"), item(zero, "added", "a", ""), delta(zero+of("a"), "1"),
			delta(zero+of("a"), "2"), delta(zero+of("a"), "2"), item(zero, "done", "b", "3"),
			delta(zero+of("b"), "3"),
		}, "12, 3"},
		"parts of what has ended": {[]string{
			`{"type":"response.output_item.done","item":{"type":"reasoning","id":"r","summary":[{"text":"so"}]}}`,
			`{"type":"response.reasoning_summary_text.delta","item_id":"r","delta":"so"}`,
			`{"type":"response.reasoning_summary_part.added","item_id":"r"}`,
			`{"type":"response.reasoning_summary_part.added","item_id":"r"}`,
		}, "so"},
		"one name for several": {[]string{
			item(zero, "added", "a", ""), delta(zero+of("a"), "12"), item(zero, "done", "a", "12"),
			item(zero, "added", "a", ""), delta(zero+of("a"), "2"), item(zero, "done", "a", "2"),
			delta(of("a"), "2"), delta(of("a"), "3"), item(zero, "done", "a", "23"),
		}, "12, 2, 23"},
		"not begun": {[]string{
			delta(of("a"), "1"), delta(of("a"), "2"), item("", "done", "a", "12"),
			args(of("fc"), `{"c":1}`), call("", "done", "c", `{"c":1}`),
		}, `12, c {"c":1}`},
		"begun late": {[]string{
			delta(zero, "1"), item(zero, "added", "a", ""), delta(zero, "2"),
			item(zero, "done", "a", "12"),
		}, "12"},
		"another id in each event": {[]string{
			item(zero, "added", "x1", ""), delta(zero+of("x2"), "1"), delta(zero+of("x3"), "2"),
			item(zero, "done", "x4", "12"),
		}, "12"},
		"fragments are missing": {[]string{
			item(zero, "added", "a", ""), delta(zero, "1"), item(zero, "done", "a", "123"),
		}, "123"},
	} {
		late := time.AfterFunc(10*time.Second, func() { panic(name + " does not end") })
		got, _ := ask(t, hello(), llmtest.Reply{Body: sse(append(tt.events, completed)...)})
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
		if s := strings.Join(said, ", "); s != tt.want || got.Err != nil || len(got.Faults) > 0 {
			t.Errorf("%s: said %s, want %s; %v %q", name, s, tt.want, got.Err, got.Faults)
		}
	}
}

// TestArgumentsAtEnd verifies that the complete arguments win over fragments of which one was lost
// or repeated, also if the fragments would be valid by themselves.
func TestArgumentsAtEnd(t *testing.T) {
	const (
		whole = `{"a":1,"b":2}`
		added = `{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call",` +
			`"id":"fc_1","call_id":"c1","name":"run","arguments":""}}`
		done = `{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call",` +
			`"id":"fc_1","call_id":"c1","name":"run","arguments":"{\"a\":1,\"b\":2}"}}`
	)
	piece := func(s string) string {
		return fmt.Sprintf(`{"type":"response.function_call_arguments.delta","output_index":0,`+
			`"item_id":"fc_1","delta":%q}`, s)
	}
	for _, fragments := range [][]string{
		{`{"a":1`, `,"b":2`, `}`}, {`{"a":1`, `}`}, {`,"b":2`, `}`}, {`{"a":1`, `{"a":1`, `,"b":2`, `}`}, {},
	} {
		events := []string{added}
		for _, f := range fragments {
			events = append(events, piece(f))
		}
		got, _ := ask(t, hello(), llmtest.Reply{Body: sse(append(events, done, completed)...)})
		calls := got.Calls()
		if got.Err != nil || len(got.Faults) > 0 || len(calls) != 1 || string(calls[0].Arguments) != whole {
			t.Errorf("%q: calls %+v, error %v, faults %q", fragments, calls, got.Err, got.Faults)
		}
	}
}

// TestFailedUsage verifies that the usage of an answer that failed is reported, since it is charged.
func TestFailedUsage(t *testing.T) {
	failed := strings.Replace(strings.Replace(completed, "response.completed", "response.failed", 1),
		`"status":"completed"`, `"status":"failed","error":{"code":"server_error","message":"oh"}`, 1)
	got, _ := ask(t, hello(), llmtest.Reply{Body: sse(begin, fragment, failed)})
	if got.Err == nil || got.Usage.Input != 30 || got.Usage.Output != 7 {
		t.Errorf("usage %+v, error %v", got.Usage, got.Err)
	}
}
