package wire

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// Defaults of the time limits in [ClientOptions].
const (
	DefaultConnect = 10 * time.Second
	DefaultFirst   = 2 * time.Minute
	DefaultIdle    = 60 * time.Second
)

// ClientOptions configure the connection to a provider.
type ClientOptions struct {
	Provider string // named in errors
	Format   Format // whose rules every body must follow
	// Connect limits the wait for a connection; 0 for [DefaultConnect]. It does not apply to a
	// Base.
	Connect time.Duration
	// First limits the wait for the first byte of an answer, in which a server may have to load a
	// model or read a long prompt; 0 for [DefaultFirst], or Idle if that is more.
	First time.Duration
	// Idle limits the wait for each further byte; 0 for [DefaultIdle].
	Idle time.Duration
	// MaxBytes limits the size of one answer on the wire; 0 for no limit.
	MaxBytes int64
	Proxy    Proxy
	// Base sends the requests; nil for a transport of the client's own that uses Proxy. It sees
	// only bodies that passed [Check], so that a Base can show a request without sending it.
	Base http.RoundTripper
}

// Limits returns First and Idle, or their defaults.
func (o ClientOptions) Limits() (first, idle time.Duration) {
	idle = cmp.Or(max(0, o.Idle), DefaultIdle)
	return cmp.Or(max(0, o.First), max(DefaultFirst, idle)), idle
}

// Proxy has the values of the environment variables HTTP_PROXY, HTTPS_PROXY and NO_PROXY. Requests
// to this machine never use a proxy.
type Proxy struct {
	HTTP, HTTPS, No string
}

// ProxyFromEnv reads the variables, whose names may be in lower case.
func ProxyFromEnv(getenv func(string) string) Proxy {
	either := func(a, b string) string {
		if v := getenv(a); v != "" {
			return v
		}
		return getenv(b)
	}
	return Proxy{
		HTTP:  either("HTTP_PROXY", "http_proxy"),
		HTTPS: either("HTTPS_PROXY", "https_proxy"),
		No:    either("NO_PROXY", "no_proxy"),
	}
}

// Function returns a Proxy function for http.Transport.
func (p Proxy) Function() func(*http.Request) (*url.URL, error) {
	c := httpproxy.Config{HTTPProxy: p.HTTP, HTTPSProxy: p.HTTPS, NoProxy: p.No}
	choose := c.ProxyFunc()
	return func(r *http.Request) (*url.URL, error) { return choose(r.URL) }
}

// NewClient returns the HTTP client that every adapter must use. It refuses bodies that break the
// provider's rules, ends requests after silence, limits the size of answers and follows no
// redirect, which would send a key to another host. Its errors are [*InvalidError],
// [*UnreachableError], [*PageError], [*IdleError], [*SizeError], [*CutError] or the context's,
// wrapped in a [*url.Error] by package http.
func NewClient(o ClientOptions) *http.Client {
	o.Connect = cmp.Or(max(0, o.Connect), DefaultConnect)
	o.First, o.Idle = o.Limits()
	if o.Base == nil {
		o.Base = newTransport(o)
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: &transport{o}, CheckRedirect: stay}
}

func newTransport(o ClientOptions) *http.Transport {
	return &http.Transport{
		Proxy:               o.Proxy.Function(),
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        8,
		IdleConnTimeout:     90 * time.Second,
		DialContext:         (&net.Dialer{Timeout: o.Connect}).DialContext,
		TLSHandshakeTimeout: o.Connect,
	}
}

// A transport checks requests before they are sent and watches their answers.
type transport struct {
	o ClientOptions
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	outer := req.Context()
	ctx, cancel := context.WithCancelCause(outer)
	body := &body{t: t, outer: outer, cancel: cancel, address: Address(req.URL)}
	body.ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { body.connected.Store(true) },
	})
	req, err := t.checked(req.Clone(body.ctx))
	if err != nil {
		cancel(nil)
		return nil, err
	}
	body.idle = time.AfterFunc(t.o.First, body.expire)
	res, err := t.o.Base.RoundTrip(req)
	if err != nil {
		err = body.explain(err)
		body.stop()
		return nil, err
	}
	body.idle.Stop()
	body.rc, body.ok, res.Body = res.Body, res.StatusCode == http.StatusOK, body
	return res, nil
}

// Address returns a URL for error messages: without user and query, which may be secret.
func Address(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// checked reads the body, checks it by the rules, and restores it.
func (t *transport) checked(req *http.Request) (*http.Request, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return req, nil
	}
	wire, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	if err := req.Body.Close(); err != nil {
		return nil, err
	}
	if found := Check(t.o.Format, modelInPath(req.URL.Path), wire); len(found) > 0 {
		return nil, &InvalidError{Provider: t.o.Provider, Violations: found}
	}
	req.Body = io.NopCloser(bytes.NewReader(wire))
	req.ContentLength = int64(len(wire))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(wire)), nil }
	return req, nil
}

// modelInPath returns the model for formats that name it in the address, as Gemini's does.
func modelInPath(path string) string {
	_, name, ok := strings.Cut(path, "/models/")
	if !ok {
		return ""
	}
	name, _, _ = strings.Cut(name, ":")
	return name
}

// A body is the body of a response. The idle timer runs only during reads: a user who thinks about
// a question in the middle of an answer is not silence of the provider.
type body struct {
	t          *transport
	rc         io.ReadCloser
	ctx, outer context.Context
	cancel     context.CancelCauseFunc
	idle       *time.Timer
	address    string
	connected  atomic.Bool
	ok         bool         // it is a successful answer
	read       atomic.Int64 // bytes
}

// limit returns how long to wait for the next byte.
func (b *body) limit() time.Duration {
	if b.read.Load() == 0 {
		return b.t.o.First
	}
	return b.t.o.Idle
}

// expire ends the exchange after silence.
func (b *body) expire() {
	b.cancel(&IdleError{Provider: b.t.o.Provider, After: b.limit(), First: b.read.Load() == 0})
}

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	b.idle.Reset(b.limit())
	n, err := b.rc.Read(p)
	b.idle.Stop()
	if b.ok && b.read.Load() == 0 && IsPage(p[:n]) {
		return 0, &PageError{Provider: b.t.o.Provider, Address: b.address}
	}
	b.read.Add(int64(n))
	if limit := b.t.o.MaxBytes; limit > 0 && b.read.Load() > limit {
		return 0, &SizeError{Provider: b.t.o.Provider, Limit: limit}
	}
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, io.EOF):
		return n, io.EOF
	default:
		return n, b.explain(err)
	}
}

// Close implements [io.Closer].
func (b *body) Close() error {
	b.stop()
	return b.rc.Close()
}

func (b *body) stop() {
	b.idle.Stop()
	b.cancel(nil)
}

// explain returns the cause of a failed exchange: the error of package http for a canceled request
// does not say who canceled it.
func (b *body) explain(err error) error {
	if b.outer.Err() != nil {
		return context.Cause(b.outer)
	}
	if idle, ok := errors.AsType[*IdleError](context.Cause(b.ctx)); ok {
		return idle
	}
	if !b.connected.Load() || isForeign(err) {
		return &UnreachableError{
			Provider: b.t.o.Provider, Address: b.address, Err: err, Within: b.t.o.Connect,
		}
	}
	return &CutError{Provider: b.t.o.Provider, Err: err}
}

// IsPage reports whether a response begins like HTML or XML. Models answer with JSON or events.
func IsPage(beginning []byte) bool {
	const longest = len("<html")
	text := bytes.TrimLeft(beginning, "\uFEFF \t\r\n")
	switch start := strings.ToLower(string(text[:min(longest, len(text))])); {
	case strings.HasPrefix(start, "<!"), start == "<html", start == "<?xml":
		return true
	}
	return false
}

// isForeign reports whether the server does not speak HTTP, for which package net/http has no error
// type.
func isForeign(err error) bool { return strings.Contains(err.Error(), "malformed HTTP") }
