package llm_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/llm"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client reaches a server that answers with f.
func client(t *testing.T, o llm.ClientOptions, f http.HandlerFunc) (*http.Client, string) {
	t.Helper()
	server := httptest.NewServer(f)
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.CloseClientConnections()
		server.Close()
	})
	o.Provider, o.Format = "ollama", llm.FormatOllama
	if o.Base == nil {
		o.Base = transport
	}
	return llm.NewClient(o), server.URL
}

func post(c *http.Client, url, body string) (string, error) {
	res, err := c.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	return string(data), err
}

const fine = `{"messages":[{"role":"user","content":"q"}]}`

// TestNothingBypassesTheCheck holds that a body that breaks a rule does not reach the wire,
// however it is sent, and that a sound one arrives as it was.
func TestNothingBypassesTheCheck(t *testing.T) {
	var got []string
	c, url := client(t, llm.ClientOptions{}, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, fmt.Sprintf("%d %s", r.ContentLength, body))
	})
	_, err := post(c, url, `{"messages":[]}`)
	var invalid *llm.InvalidError
	if !errors.As(err, &invalid) || invalid.Violations[0].Rule != "G0" || len(got) != 0 {
		t.Errorf("a bad body ends with %v and %q arrives", err, got)
	}
	if _, err := post(c, url, fine); err != nil || len(got) != 1 || got[0] != fmt.Sprintf("%d %s", len(fine), fine) {
		t.Errorf("a sound body ends with %v and %q arrives", err, got)
	}
	if _, err := c.Get(url); err != nil {
		t.Errorf("what has no body ends with %v", err)
	}
}

// TestShowsWithoutSending holds that a base sees just what would be sent.
func TestShowsWithoutSending(t *testing.T) {
	var seen string
	errShown := errors.New("shown")
	c := llm.NewClient(llm.ClientOptions{Format: llm.FormatOllama, Base: roundTrip(
		func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			seen = string(body)
			return nil, errors.Join(errShown, err)
		})})
	if _, err := post(c, "http://127.0.0.1:1", fine); !errors.Is(err, errShown) || seen != fine {
		t.Errorf("it ends with %v and shows %q", err, seen)
	}
	c.CloseIdleConnections() // the base has none
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestIdleOnlyWhileReading(t *testing.T) {
	c, url := client(t, llm.ClientOptions{Idle: 80 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "a")
		w.(http.Flusher).Flush()
		time.Sleep(20 * time.Millisecond)
		fmt.Fprint(w, "b")
		w.(http.Flusher).Flush()
		if r.URL.Path == "/hang" {
			<-r.Context().Done()
		}
	})
	read := func(path string) (string, error) {
		res, err := c.Get(url + path)
		if err != nil {
			return "", err
		}
		defer res.Body.Close()
		var got []byte
		for {
			time.Sleep(150 * time.Millisecond) // a person thinks
			var one [1]byte
			n, err := res.Body.Read(one[:])
			got = append(got, one[:n]...)
			if errors.Is(err, io.EOF) {
				return string(got), nil
			}
			if err != nil {
				return string(got), err
			}
		}
	}
	if got, err := read("/"); got != "ab" || err != nil {
		t.Errorf("a slow reader gets %q, %v", got, err)
	}
	got, err := read("/hang")
	var idle *llm.IdleError
	if got != "ab" || !errors.As(err, &idle) || !idle.Timeout() {
		t.Errorf("silence gives %q, %v", got, err)
	}
}

func TestBoundsAnswers(t *testing.T) {
	c, url := client(t, llm.ClientOptions{MaxBytes: 10}, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, strings.Repeat("x", 10+len(r.URL.Path)-1))
	})
	if got, err := post(c, url, fine); len(got) != 10 || err != nil {
		t.Errorf("ten bytes end with %v", err)
	}
	_, err := post(c, url+"/1", fine)
	var size *llm.SizeError
	if !errors.As(err, &size) || size.Limit != 10 {
		t.Errorf("eleven bytes end with %v", err)
	}
}

func TestCanceled(t *testing.T) {
	c, url := client(t, llm.ClientOptions{}, func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
	})
	errWhy := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(10*time.Millisecond, func() { cancel(errWhy) })
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Do(req)
	var cut *llm.CutError
	if !errors.Is(err, errWhy) || errors.As(err, &cut) {
		t.Errorf("canceled, it ends with %v", err)
	}
}

func TestProxy(t *testing.T) {
	p := llm.ProxyFromEnv(func(name string) string {
		return map[string]string{"https_proxy": "http://p:1", "HTTP_PROXY": "http://q:2"}[name]
	})
	if p != (llm.Proxy{HTTP: "http://q:2", HTTPS: "http://p:1"}) {
		t.Errorf("proxies are %+v", p)
	}
	var asked string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.String()
		fmt.Fprint(w, "from the proxy")
	}))
	defer proxy.Close()
	c := llm.NewClient(llm.ClientOptions{Format: llm.FormatOllama, Proxy: llm.Proxy{HTTP: proxy.URL}})
	defer c.CloseIdleConnections()
	got, err := post(c, "http://model.example/api", fine)
	if err != nil || got != "from the proxy" || asked != "http://model.example/api" {
		t.Errorf("through the proxy: %q, %v, asked for %q", got, err, asked)
	}
}

func TestRetryAfter(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	for value, want := range map[string]time.Duration{
		"": 0, "3": 3 * time.Second, "1.5": 1500 * time.Millisecond, "-3": 0, "soon": 0,
		"Fri, 02 Jan 2026 03:04:15 GMT": 10 * time.Second, "Fri, 02 Jan 2026 03:04:00 GMT": 0,
	} {
		if got := llm.RetryAfter(http.Header{"Retry-After": {value}}, now); got != want {
			t.Errorf("%q is %s, want %s", value, got, want)
		}
	}
	if got := llm.RetryAfter(http.Header{"Retry-After-Ms": {"250"}, "Retry-After": {"9"}}, now); got != 250*time.Millisecond {
		t.Errorf("milliseconds are %s", got)
	}
	if got := llm.RetryAfter(http.Header{"Retry-After": {"Fri, 02 Jan 2026 03:04:15 GMT"}}, nil); got != 0 {
		t.Errorf("without a clock a time is %s", got)
	}
}

func TestReadError(t *testing.T) {
	for body, want := range map[string]llm.APIError{
		`{"type":"error","error":{"type":"overloaded_error","message":"m"}}`:                {Type: "overloaded_error", Message: "m"},
		`{"error":{"message":"m","type":"invalid_request_error","code":"model_not_found"}}`: {Type: "model_not_found", Message: "m"},
		`[{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}]`:                {Type: "INVALID_ARGUMENT", Message: "m"},
		`{"error":{"code":502,"message":"m"}}`:                                              {Type: "502", Message: "m"},
		`{"error":"m"}`:                                                                     {Message: "m"},
		`{"message":"m"}`:                                                                   {Message: "m"},
		"<p>\n  m\n</p>\n":                                                                  {Message: "<p> m </p>"},
		"<!doctype html><title> 502\n Bad Gateway</title><p>m</p>":                          {Message: "a web page, 502 Bad Gateway"},
		"":                    {},
		`{"error":{"a":"b"}}`: {},
	} {
		res := &http.Response{
			StatusCode: 418, Header: http.Header{"Request-Id": {"r"}}, Body: io.NopCloser(strings.NewReader(body)),
		}
		var got *llm.APIError
		if err := llm.ReadError("p/m", res, nil); !errors.As(err, &got) {
			t.Fatalf("%s gives %v", body, err)
		}
		want.Provider, want.Status, want.RequestID = "p", 418, "r"
		if *got != want {
			t.Errorf("%s gives %+v, want %+v", body, *got, want)
		}
	}
}

func TestRetryable(t *testing.T) {
	for _, tt := range []struct {
		status       int
		header, kind string
		want         bool
	}{
		{400, "", "", false},
		{401, "", "", false},
		{404, "", "", false},
		{408, "", "", true},
		{409, "", "", true},
		{429, "", "", true},
		{500, "", "", true},
		{501, "", "", false},
		{503, "", "", true},
		{529, "", "", true},
		{529, "false", "", false},
		{400, "true", "", true},
		{429, "", "insufficient_quota", false},
	} {
		res := &http.Response{StatusCode: tt.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(
			`{"error":{"type":"` + tt.kind + `","message":"m"}}`))}
		res.Header.Set("X-Should-Retry", tt.header)
		if got := llm.Retryable(llm.ReadError("p/m", res, nil)); got != tt.want {
			t.Errorf("%d %q %q: %v", tt.status, tt.header, tt.kind, got)
		}
	}
	for err, want := range map[error]bool{
		context.Canceled: false, context.DeadlineExceeded: false, io.EOF: false,
		&llm.IdleError{}: true, &llm.CutError{Err: context.Canceled}: false, &llm.CutError{}: true,
		&llm.InvalidError{}: false, &llm.OverflowError{Err: &llm.APIError{Retryable: true}}: false,
		&llm.WireError{Err: io.EOF}: false, &llm.SizeError{}: false,
	} {
		if got := llm.Retryable(err); got != want {
			t.Errorf("%T %v: %v", err, err, got)
		}
	}
}

func TestErrorEvent(t *testing.T) {
	for body, want := range map[string]bool{
		`{"type":"error","error":{"type":"overloaded_error","message":"m"}}`:      true,
		`{"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}`:             true,
		`{"error":{"code":429,"message":"m"}}`:                                    true,
		`{"type":"error","error":{"type":"invalid_request_error","message":"m"}}`: false,
		`{"error":"m"}`: false,
	} {
		var api *llm.APIError
		err := llm.ErrorEvent("p/m", []byte(body))
		if !errors.As(err, &api) || api.Message != "m" || llm.Retryable(err) != want {
			t.Errorf("%s gives %v, retryable %v", body, err, llm.Retryable(err))
		}
	}
	var overflow *llm.OverflowError
	if err := llm.ErrorEvent("p/m", []byte(`{"error":{"code":"context_length_exceeded","message":"m"}}`)); !errors.As(err, &overflow) {
		t.Errorf("an overflow gives %v", err)
	}
}

// failing fails n times, and then says something.
func failing(n int, with error, said int) func(context.Context) iter.Seq2[llm.Delta, error] {
	return func(context.Context) iter.Seq2[llm.Delta, error] {
		return func(yield func(llm.Delta, error) bool) {
			for range said {
				if !yield(llm.Delta{Kind: llm.DeltaStart}, nil) {
					return
				}
			}
			if n--; n >= 0 {
				yield(llm.Delta{}, with)
				return
			}
			yield(llm.Delta{Kind: llm.DeltaStop}, nil)
		}
	}
}

func TestRetry(t *testing.T) {
	transient := &llm.CutError{Provider: "p"}
	limited := &llm.APIError{Retryable: true, RetryAfter: 5 * time.Second}
	patient := &llm.APIError{Retryable: true, RetryAfter: time.Hour}
	for name, tt := range map[string]struct {
		fails  int
		with   error
		said   int
		waits  string
		deltas int
		err    error
	}{
		"at once":       {0, nil, 0, "[]", 1, nil},
		"twice":         {2, transient, 0, "[750ms 1.5s]", 1, nil},
		"for good":      {9, transient, 0, "[750ms 1.5s 3s 3s]", 0, transient},
		"asked to wait": {1, limited, 0, "[5.125s]", 1, nil},
		"too long":      {1, patient, 0, "[]", 0, patient},
		"final":         {1, io.EOF, 0, "[]", 0, io.EOF},
		"after a word":  {1, transient, 1, "[]", 1, transient},
	} {
		waits := []time.Duration{}
		notified := 0
		r := llm.Retry{
			Max: 4, Base: time.Second, Cap: 4 * time.Second, Jitter: func() float64 { return 0.5 },
			Sleep:  func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil },
			Notify: func(int, time.Duration, error) { notified++ },
		}
		if name == "asked to wait" {
			r.Cap = time.Minute
		}
		deltas := 0
		var failed error
		for _, err := range r.Stream(t.Context(), failing(tt.fails, tt.with, tt.said)) {
			if failed = err; err == nil {
				deltas++
			}
		}
		if fmt.Sprint(waits) != tt.waits || deltas != tt.deltas || !errors.Is(failed, tt.err) ||
			notified != len(waits) {
			t.Errorf("%s: waits %v, %d deltas, %v, %d times notified", name, waits, deltas, failed, notified)
		}
	}
}

func TestRetryIsCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	r := llm.DefaultRetry(rand.Float64)
	r.Base = time.Hour
	r.Cap = time.Hour
	// It would wait for an hour.
	if err := r.Do(ctx, func(context.Context) error { return &llm.CutError{} }); err == nil {
		t.Error("canceled, it ends without an error")
	}
}

func TestErrorsSayWhat(t *testing.T) {
	for want, err := range map[string]error{
		"p answers 429 (slow): m":                                      &llm.APIError{Provider: "p", Status: 429, Type: "slow", Message: "m"},
		"the conversation does not fit the window of m: 3 tokens of 2": &llm.OverflowError{Model: "m", Tokens: 3, Limit: 2},
		"m refuses to answer (c): e":                                   &llm.RefusalError{Model: "m", Category: "c", Explanation: "e"},
		"p: nothing came for 1s":                                       &llm.IdleError{Provider: "p", After: time.Second},
		"p: no answer within 1m0s":                                     &llm.IdleError{Provider: "p", After: time.Minute, First: true},
		"p: http://h/v1 answers with a web page":                       &llm.PageError{Provider: "p", Address: "http://h/v1"},
		"p: connect to http://h/v1: the answer is not HTTP": &llm.UnreachableError{
			Provider: "p", Address: "http://h/v1", Err: errors.New("malformed HTTP response"),
		},
		"p: connect to http://h/v1: no connection within 10s": &llm.UnreachableError{
			Provider: "p", Address: "http://h/v1", Err: os.ErrDeadlineExceeded, Within: 10 * time.Second,
		},
		"p: connect to http://h/v1: no such host": &llm.UnreachableError{
			Provider: "p", Address: "http://h/v1", Err: &net.DNSError{Err: "no such host", Name: "h"},
		},
		"p: the server closed the stream": &llm.CutError{Provider: "p"},
		"p: the connection was lost: EOF": &llm.CutError{Provider: "p", Err: io.EOF},
		"p: reading the answer: EOF":      &llm.WireError{Provider: "p", Err: io.EOF},
		"m does not take image/tiff: a":   &llm.UnsupportedError{Model: "m", What: "image/tiff", Name: "a"},
		"p would refuse the request: R at x: d; S at y: e": &llm.InvalidError{
			Provider: "p", Violations: []llm.Violation{{"R", "x", "d"}, {"S", "y", "e"}},
		},
		"p: the answer is longer than 7 bytes": &llm.SizeError{Provider: "p", Limit: 7},
	} {
		if err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}
