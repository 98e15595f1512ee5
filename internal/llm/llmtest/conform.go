package llmtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"go.uber.org/goleak"
)

// A Harness describes an adapter to [Conform].
type Harness struct {
	Format wire.Format
	New    func(at llm.Endpoint) llm.Model
	// Answer returns an answer with the text in wire form. Type is its content type.
	Answer func(text string) []byte
	Type   string
	// Fault is an error in wire form with the message Overloaded, in the middle of a stream, after
	// the beginning of an answer; nil if the format has no such error.
	Fault []byte
	// Many returns an answer of n fragments, each "x", in wire form.
	Many func(n int) []byte
}

// Overloaded is the message of a fault in the middle of a stream.
const Overloaded = "we are overloaded"

// question returns the request of the tests.
func question() *llm.Request {
	return &llm.Request{Messages: []llm.Message{
		{Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: "question"}}},
	}}
}

// Conform checks what every adapter must do with valid answers and with errors.
func Conform(t *testing.T, h Harness) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Harness)
	}{
		{"answers in chunks", testChunks},
		{"ten thousand deltas", testMany},
		{"leaves the request alone", testRequest},
		{"many at once", testConcurrent},
		{"breaks anywhere", testBreak},
		{"cancels", testCancel},
		{"cancels what has no end", testCancelEndless},
		{"rate limit", testRateLimit},
		{"overloaded", testOverloaded},
		{"asks too long a wait", testLongWait},
		{"bad request", testBadRequest},
		{"no JSON error", testHTML},
		{"redirect", testRedirect},
		{"fault in the stream", testFault},
		{"silence", testSilence},
		{"silence in the stream", testSilenceInside},
		{"cut stream", testCut},
		{"aborted stream", testAbort},
		{"invalid UTF-8", testUTF8},
		{"no stream at all", testNoStream},
		{"an error as a document", testDocument},
		{"nobody listens", testRefused},
	} {
		t.Run(c.name, func(t *testing.T) {
			// Connections end with the server, which Cleanup closes first.
			before := goleak.IgnoreCurrent()
			t.Cleanup(func() { goleak.VerifyNone(t, before) })
			c.test(t, h)
		})
	}
}

func (h Harness) ok(body []byte) Reply {
	return Reply{Header: http.Header{"Content-Type": {h.Type}}, Body: body}
}

func (h Harness) retry(waits *[]time.Duration) llm.Retry {
	return llm.Retry{
		Max: 3, Base: time.Second, Cap: time.Minute,
		Sleep: func(ctx context.Context, d time.Duration) error {
			*waits = append(*waits, d)
			return ctx.Err()
		},
	}
}

// ask sends a request to a server with scripted replies, and returns the waits between attempts.
func (h Harness) ask(t *testing.T, replies ...Reply) (Transcript, []time.Duration) {
	t.Helper()
	var waits []time.Duration
	at := Serve(t, replies...).Endpoint(t, h.Format)
	at.Retry, at.Now = h.retry(&waits), noon
	return Collect(h.New(at).Stream(t.Context(), question())), waits
}

func sound(t *testing.T, got Transcript, text string) {
	t.Helper()
	whole := got.Err == nil && got.Stop.Reason == llm.StopEnd
	if !whole || len(got.Faults) > 0 || got.Text() != text {
		t.Errorf("said %.80q, stop %+v, error %v, faults %q",
			got.Text(), got.Stop, got.Err, got.Faults)
	}
}

func testChunks(t *testing.T, h Harness) {
	const text = "Grüße, 世界 👋\n\nzwei"
	for _, chunk := range []func(int) int{nil, Odd, Bytewise} {
		reply := h.ok(h.Answer(text))
		reply.Chunk = chunk
		got, _ := h.ask(t, reply)
		sound(t, got, text)
	}
}

func testMany(t *testing.T, h Harness) {
	const n = 10_000
	got, _ := h.ask(t, h.ok(h.Many(n)))
	sound(t, got, strings.Repeat("x", n))
}

func testRequest(t *testing.T, h Harness) {
	server := Serve(t, h.ok(h.Answer("a")))
	r := question()
	m := h.New(server.Endpoint(t, h.Format))
	for range 2 {
		sound(t, Collect(m.Stream(t.Context(), r)), "a")
	}
	if !reflect.DeepEqual(r, question()) {
		t.Errorf("the request became %+v", r)
	}
	sent := server.Sent()
	if len(sent) != 2 || !bytes.Equal(sent[0].Body, sent[1].Body) {
		t.Error("the same request has other bytes")
	}
}

func testConcurrent(t *testing.T, h Harness) {
	reply := h.ok(h.Answer("answer"))
	reply.Chunk = Odd
	m := h.New(Serve(t, reply).Endpoint(t, h.Format))
	results := make(chan Transcript)
	for range 4 {
		go func() { results <- Collect(m.Stream(t.Context(), question())) }()
	}
	for range 4 {
		sound(t, <-results, "answer")
	}
}

func testBreak(t *testing.T, h Harness) {
	reply := h.ok(h.Answer("one two"))
	all, _ := h.ask(t, reply)
	reply.Hang = true
	for stop := range all.Deltas {
		server := Serve(t, reply)
		m := h.New(server.Endpoint(t, h.Format))
		n := 0
		for _, err := range m.Stream(t.Context(), question()) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n > stop {
				break
			}
		}
		server.Left(t)
	}
}

func testCancel(t *testing.T, h Harness) {
	reply := h.ok(h.Many(3))
	reply.Body = reply.Body[:len(reply.Body)*2/3]
	reply.Hang = true
	h.cancel(t, reply)
}

// testCancelEndless lets the server repeat the beginning of an answer without end.
func testCancelEndless(t *testing.T, h Harness) {
	reply := h.ok(beginning(h.Many(3)))
	reply.Repeat = true
	h.cancel(t, reply)
}

// cancel cancels a request during an answer that does not end by itself.
func (h Harness) cancel(t *testing.T, reply Reply) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	server := Serve(t, reply)
	m := h.New(server.Endpoint(t, h.Format))
	time.AfterFunc(30*time.Millisecond, cancel)
	late := time.AfterFunc(10*time.Second, func() { panic("canceled, the stream does not end") })
	got := Collect(m.Stream(ctx, question()))
	if !late.Stop() || !errors.Is(got.Err, context.Canceled) || len(got.Faults) > 0 {
		t.Errorf("canceled, the stream ends with %v, faults %q", got.Err, got.Faults)
	}
	server.Left(t)
}

// beginning returns the events of about half an answer.
func beginning(body []byte) []byte {
	sep := []byte("\n")
	if bytes.Contains(body, []byte("\n\n")) {
		sep = []byte("\n\n")
	}
	return body[:bytes.LastIndex(body[:len(body)*2/3], sep)+len(sep)]
}

func refusal(status int, kind, message string) Reply {
	body := fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q}}`, kind, message)
	header := http.Header{"Content-Type": {"application/json"}}
	return Reply{Status: status, Header: header, Body: []byte(body)}
}

func testRateLimit(t *testing.T, h Harness) {
	for _, after := range []string{"7", noon().Add(7 * time.Second).Format(http.TimeFormat)} {
		limit := refusal(http.StatusTooManyRequests, "rate_limit_error", "slow down")
		limit.Header.Set("Retry-After", after)
		got, waits := h.ask(t, limit, h.ok(h.Answer("late")))
		sound(t, got, "late")
		if len(waits) != 1 || waits[0] < 7*time.Second || waits[0] > 8*time.Second {
			t.Errorf("asked to wait %s, it waited %s", after, waits)
		}
	}
}

// noon is the time of the tests.
func noon() time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC) }

func testOverloaded(t *testing.T, h Harness) {
	got, waits := h.ask(t, refusal(529, "overloaded_error", Overloaded))
	var api *llm.APIError
	if !errors.As(got.Err, &api) || api.Status != 529 || api.Message != Overloaded {
		t.Errorf("overloaded, the stream ends with %v", got.Err)
	}
	if want := []time.Duration{1e9, 2e9, 4e9}; !reflect.DeepEqual(waits, want) {
		t.Errorf("it waited %s, want %s", waits, want)
	}
}

func testLongWait(t *testing.T, h Harness) {
	limit := refusal(http.StatusTooManyRequests, "rate_limit_error", "slow down")
	limit.Header.Set("Retry-After", "3600")
	got, waits := h.ask(t, limit, h.ok(h.Answer("late")))
	var api *llm.APIError
	if !errors.As(got.Err, &api) || api.RetryAfter != time.Hour || len(waits) != 0 {
		t.Errorf("it waited %s and ends with %v", waits, got.Err)
	}
}

func testBadRequest(t *testing.T, h Harness) {
	got, waits := h.ask(t, refusal(http.StatusBadRequest, "invalid_request_error", "no such thing"))
	var api *llm.APIError
	if !errors.As(got.Err, &api) || api.Status != 400 || api.Message != "no such thing" ||
		api.Provider != string(h.Format) || len(waits) != 0 {
		t.Errorf("a bad request ends with %v after waits %s", got.Err, waits)
	}
	long := refusal(http.StatusBadRequest, "invalid_request_error",
		"prompt is too long: 210000 tokens > 200000 maximum")
	got, _ = h.ask(t, long)
	var overflow *llm.OverflowError
	if !errors.As(got.Err, &overflow) || overflow.Tokens != 210_000 || overflow.Limit != 200_000 {
		t.Errorf("too long a request ends with %v", got.Err)
	}
}

func testHTML(t *testing.T, h Harness) {
	got, _ := h.ask(t, Reply{Status: http.StatusNotFound, Body: []byte("<html>\n<h1>Gone</h1>")})
	var api *llm.APIError
	if !errors.As(got.Err, &api) || api.Status != 404 || !strings.Contains(api.Message, "Gone") {
		t.Errorf("a page of HTML ends with %v", got.Err)
	}
	for status, attempts := range map[int]int{
		http.StatusOK: 0, http.StatusTooManyRequests: 0, http.StatusBadGateway: 3,
	} {
		got, waits := h.ask(t, Reply{Status: status, Body: []byte("<!doctype html>\n<p>Log in")})
		_, isPage := errors.AsType[*wire.PageError](got.Err)
		if got.Err == nil || len(waits) != attempts || isPage != (status == http.StatusOK) {
			t.Errorf("a page with status %d ends with %v after waits %s", status, got.Err, waits)
		}
	}
}

func testRedirect(t *testing.T, h Harness) {
	elsewhere := Serve(t, h.ok(h.Answer("from elsewhere")))
	away := Reply{Status: 307, Header: http.Header{"Location": {elsewhere.URL}}}
	got, _ := h.ask(t, away)
	var api *llm.APIError
	if !errors.As(got.Err, &api) || api.Status != 307 || len(elsewhere.Sent()) > 0 ||
		!strings.Contains(api.Message, elsewhere.URL) {
		t.Errorf("a redirect ends with %v, and %d requests went elsewhere",
			got.Err, len(elsewhere.Sent()))
	}
}

func testFault(t *testing.T, h Harness) {
	if h.Fault == nil {
		t.Skip("the format has no errors in a stream")
	}
	got, _ := h.ask(t, h.ok(h.Fault))
	var api *llm.APIError
	if !errors.As(got.Err, &api) || api.Status != 0 || !strings.Contains(api.Message, Overloaded) {
		t.Errorf("a fault ends with %v", got.Err)
	}
}

// quick is ask with short limits for silence.
func (h Harness) quick(t *testing.T, replies ...Reply) (Transcript, []time.Duration) {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	at := Serve(t, replies...).Endpoint(t, h.Format)
	at.Client = wire.NewClient(wire.ClientOptions{
		Provider: string(h.Format), Format: h.Format, Base: transport,
		First: 50 * time.Millisecond, Idle: 50 * time.Millisecond,
	})
	var waits []time.Duration
	at.Retry = h.retry(&waits)
	return Collect(h.New(at).Stream(t.Context(), question())), waits
}

func testSilence(t *testing.T, h Harness) {
	silent := h.ok(nil)
	silent.Hang = true
	got, waits := h.quick(t, silent, h.ok(h.Answer("at last")))
	var idle *wire.IdleError
	if !errors.As(got.Err, &idle) || !idle.First || len(waits) != 0 {
		t.Errorf("silence ends with %v after waits %s", got.Err, waits)
	}
}

func testSilenceInside(t *testing.T, h Harness) {
	silent := h.ok(h.Many(4))
	silent.Body = silent.Body[:len(silent.Body)*2/3]
	silent.Hang = true
	got, waits := h.quick(t, silent)
	var idle *wire.IdleError
	if !errors.As(got.Err, &idle) || len(got.Deltas) == 0 || len(waits) != 0 {
		t.Errorf("silence ends with %v after %d deltas, waits %s", got.Err, len(got.Deltas), waits)
	}
}

func testCut(t *testing.T, h Harness) {
	whole := h.Many(6)
	for n := range len(whole) / 7 {
		cut := h.ok(whole[:n*7])
		got, _ := h.ask(t, cut)
		var broken *wire.CutError
		if !errors.As(got.Err, &broken) && got.Stop.Reason == "" {
			t.Fatalf("cut after %d bytes of %d, the stream ends with %v", n*7, len(whole), got.Err)
		}
		if got.Err != nil && got.Stop.Reason != "" {
			t.Fatalf("cut after %d bytes, the stream has a stop and the error %v", n*7, got.Err)
		}
	}
}

func testAbort(t *testing.T, h Harness) {
	whole := h.Many(6)
	aborted := h.ok(whole[:len(whole)/2])
	aborted.Abort = true
	got, _ := h.ask(t, aborted)
	var broken *wire.CutError
	if !errors.As(got.Err, &broken) || broken.Err == nil {
		t.Errorf("aborted, the stream ends with %v", got.Err)
	}
}

func testUTF8(t *testing.T, h Harness) {
	body := bytes.Replace(h.Answer("aXb"), []byte("aXb"), []byte("a\xff\xfeb"), 1)
	got, _ := h.ask(t, h.ok(body))
	sound(t, got, "a\uFFFDb")
}

func testNoStream(t *testing.T, h Harness) {
	got, _ := h.ask(t, Reply{Body: []byte("<html>hello</html>")})
	if got.Err == nil || got.Stop.Reason != "" {
		t.Errorf("what is no stream ends with %v, %+v", got.Err, got.Stop)
	}
}

// testDocument lets the server answer with a document and the status of a stream, as some gateways
// report errors.
func testDocument(t *testing.T, h Harness) {
	for _, body := range []string{
		`{"error":{"type":"authentication_error","message":"bad key"}}`, `{"error":"bad key"}`,
		"{\n  \"error\": {\n    \"message\": \"bad key\"\n  }\n}\n",
		"{\n\t\"error\": \"bad key\"\n}",
	} {
		got, waits := h.ask(t, Reply{Body: []byte(body)})
		api, ok := errors.AsType[*llm.APIError](got.Err)
		if !ok || api.Message != "bad key" || len(waits) > 0 {
			t.Errorf("%s ends with %v after waits %s", body, got.Err, waits)
		}
	}
}

func testRefused(t *testing.T, h Harness) {
	server := Serve(t)
	at := server.Endpoint(t, h.Format)
	var waits []time.Duration
	at.Retry = h.retry(&waits)
	server.Close()
	got := Collect(h.New(at).Stream(t.Context(), question()))
	var gone *wire.UnreachableError
	if !errors.As(got.Err, &gone) || len(waits) != 0 {
		t.Errorf("without a server the stream ends with %v after waits %s", got.Err, waits)
	}
}
