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
	"os"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRetryAfter(t *testing.T) {
	const century = 100 * 365 * 24 * time.Hour
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	for value, want := range map[string]time.Duration{
		"": 0, "3": 3 * time.Second, "1.5": 1500 * time.Millisecond, "-3": 0, "soon": 0, "NaN": 0,
		"1e30": century, "99999999999999999999": century, "Infinity": century,
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

// TestDecode verifies that only a value that is no object is an error.
func TestDecode(t *testing.T) {
	for data, ok := range map[string]bool{
		`{"n":1}`: true, `{"n":"x"}`: true, `{}`: true, `null`: true, `[]`: false, `7`: false, `{`: false,
	} {
		var v struct{ N int }
		err := llm.Decode("p", []byte(data), &v)
		if _, odd := errors.AsType[*llm.WireError](err); odd == ok || (err == nil) != ok {
			t.Errorf("%s: %v", data, err)
		}
	}
}

func TestReadError(t *testing.T) {
	for body, want := range map[string]llm.APIError{
		`{"type":"error","error":{"type":"overloaded_error","message":"m"}}`:                {Type: "overloaded_error", Message: "m"},
		`{"error":{"message":"m","type":"invalid_request_error","code":"model_not_found"}}`: {Type: "model_not_found", Message: "m"},
		`[{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}]`:                {Type: "INVALID_ARGUMENT", Message: "m"},
		`{"error":{"code":502,"message":"m"}}`:                                              {Type: "502", Message: "m"},
		`{"error":"m"}`:                                                                     {Message: "m"},
		`{"error":"m","message":{"content":"part"}}`:                                        {Message: "m"},
		`{"error":{"message":"` + strings.Repeat("m", 2001) + `"}}`:                         {Message: strings.Repeat("m", 2000) + "…"},
		`{"message":"m"}`:  {Message: "m"},
		"<p>\n  m\n</p>\n": {Message: "<p> m </p>"},
		"<!doctype html><title> 502\n Bad Gateway</title><p>m</p>": {Message: "a web page, 502 Bad Gateway"},
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
		want.Provider, want.Status = "p", 418
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
		&wire.IdleError{}: true, &wire.CutError{Err: context.Canceled}: false, &wire.CutError{}: true,
		&wire.InvalidError{}: false, &llm.OverflowError{Err: &llm.APIError{Retryable: true}}: false,
		&llm.WireError{Err: io.EOF}: false, &wire.SizeError{}: false,
	} {
		if got := llm.Retryable(err); got != want {
			t.Errorf("%T %v: %v", err, err, got)
		}
	}
}

// TestErrorsHaveOneLine verifies that no member of an error, of a document or of an end breaks the
// line that shows it: a further line could pass for one of this program.
func TestErrorsHaveOneLine(t *testing.T) {
	const odd = `a\nhint: b\r\n\u2028\u0085\u000bc`
	for _, body := range []string{
		`{"error":"X"}`, `{"error":{"message":"X"}}`, `{"error":{"type":"X","message":"X"}}`,
		`{"error":{"code":"X","message":"X"}}`, `{"error":{"status":"X"}}`, `[{"error":{"message":"X"}}]`,
		`{"message":"X"}`, `{"error":{"message":"m","metadata":{"raw":"X"}}}`,
		`{"error":{"message":"m","metadata":{"raw":{"error":"X"}}}}`, `<title>X</title>`, `X`,
	} {
		body = strings.ReplaceAll(body, "X", odd)
		res := &http.Response{StatusCode: 400, Body: io.NopCloser(strings.NewReader(body))}
		for _, err := range []error{
			llm.ErrorEvent("p/m", []byte(body)), llm.ReadError("p/m", res, time.Now),
			llm.StreamError("p", &wire.ForeignError{Body: []byte(body)}),
		} {
			if said := err.Error(); len(strings.FieldsFunc(said, isBreak)) > 1 || !strings.Contains(said, "hint: b") {
				t.Errorf("%s says %q", body, said)
			}
		}
	}
	own := &llm.APIError{Provider: "p", Type: "a\nb", Message: "a\nb"} // as adapters make them
	if said := own.Error(); len(strings.FieldsFunc(said, isBreak)) > 1 {
		t.Errorf("an adapter's error says %q", said)
	}
	a := llm.NewAssembler(&llm.Request{}, func(d llm.Delta, _ error) bool {
		s := d.Stop
		if all := s.Native + s.Category + s.Explanation; len(strings.FieldsFunc(all, isBreak)) > 1 {
			t.Errorf("an end says %q", all)
		}
		return true
	})
	a.Stop(llm.Stop{Reason: llm.StopOther, Native: "a\nb", Category: "a\r\nb", Explanation: "a\n\nb"})
}

func isBreak(r rune) bool { return strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r) }

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

// failing returns an exchange that fails n times, and then yields deltas.
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
	transient := &wire.CutError{Provider: "p"}
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
		for _, err := range r.Stream(t.Context(), &llm.Request{}, failing(tt.fails, tt.with, tt.said)) {
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

// TestRetryOfWhatWasCharged verifies that an exchange that reported nothing but usage is repeated,
// unless its caller limits what is charged.
func TestRetryOfWhatWasCharged(t *testing.T) {
	for limited, want := range map[bool]int{false: 3, true: 1} {
		n := 0
		r := llm.Retry{Max: 2, Sleep: func(context.Context, time.Duration) error { return nil }}
		var used llm.Usage
		req := new(llm.Request)
		if limited {
			req.Afford = func(*llm.Request) error { return nil }
		}
		for d, err := range r.Stream(t.Context(), req,
			func(context.Context) iter.Seq2[llm.Delta, error] {
				return func(yield func(llm.Delta, error) bool) {
					n++
					_ = yield(llm.Delta{Kind: llm.DeltaUsage, Usage: llm.Usage{Input: 7}}, nil) &&
						yield(llm.Delta{}, &wire.CutError{})
				}
			}) {
			if used = used.Add(d.Usage); err != nil && d.Usage != (llm.Usage{}) {
				t.Error("an error with usage")
			}
		}
		if n != want || used.Input != int64(7*n) {
			t.Errorf("limited %v: %d exchanges, usage %+v", limited, n, used)
		}
	}
}

func TestRetryIsCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	r := llm.DefaultRetry(rand.Float64)
	r.Base = time.Hour
	r.Cap = time.Hour
	// A retry would wait for an hour.
	if err := r.Do(ctx, func(context.Context) error { return &wire.CutError{} }); err == nil {
		t.Error("canceled, it ends without an error")
	}
}

func TestErrorsSayWhat(t *testing.T) {
	for want, err := range map[string]error{
		"p returned 429 (slow): m":                                     &llm.APIError{Provider: "p", Status: 429, Type: "slow", Message: "m"},
		"p returned 429: m; it asks to wait 1h0m0s":                    &llm.APIError{Provider: "p", Status: 429, Message: "m", RetryAfter: time.Hour},
		"p: no answer within 20m0s, though the server is alive":        &wire.IdleError{Provider: "p", After: 20 * time.Minute, First: true, Alive: true},
		"the conversation does not fit the window of m: 3 tokens of 2": &llm.OverflowError{Model: "m", Tokens: 3, Limit: 2},
		"m refuses to answer (c): e":                                   &llm.RefusalError{Model: "m", Category: "c", Explanation: "e"},
		"p: no data for 1s":                                            &wire.IdleError{Provider: "p", After: time.Second},
		"p: no answer within 1m0s":                                     &wire.IdleError{Provider: "p", After: time.Minute, First: true},
		"p: http://h/v1 returned a web page":                           &wire.PageError{Provider: "p", Address: "http://h/v1"},
		"p: connect to http://h/v1: the answer is not HTTP": &wire.UnreachableError{
			Provider: "p", Address: "http://h/v1", Err: errors.New("malformed HTTP response"),
		},
		"p: connect to http://h/v1: no connection within 10s": &wire.UnreachableError{
			Provider: "p", Address: "http://h/v1", Err: os.ErrDeadlineExceeded, Within: 10 * time.Second,
		},
		"p: connect to http://h/v1: no such host": &wire.UnreachableError{
			Provider: "p", Address: "http://h/v1", Err: &net.DNSError{Err: "no such host", Name: "h"},
		},
		"p: the server closed the stream": &wire.CutError{Provider: "p"},
		"p: the connection was lost: EOF": &wire.CutError{Provider: "p", Err: io.EOF},
		"p: reading the answer: EOF":      &llm.WireError{Provider: "p", Err: io.EOF},
		"m does not accept image/tiff: a": &llm.UnsupportedError{Model: "m", What: "image/tiff", Name: "a"},
		"p would refuse the request: R at x: d; S at y: e": &wire.InvalidError{
			Provider: "p", Violations: []wire.Violation{
				{Rule: "R", Path: "x", Detail: "d"}, {Rule: "S", Path: "y", Detail: "e"},
			},
		},
		"p: the answer is longer than 7 bytes": &wire.SizeError{Provider: "p", Limit: 7},
	} {
		if err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}
