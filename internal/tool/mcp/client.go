package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"

	"github.com/git-jp/git-jp/internal/exact"
)

// maxRedirects limits how often one request is redirected.
const maxRedirects = 10

// maxRefusal limits the text of a refusal.
const maxRefusal = 64 << 10

var (
	errRedirect = errors.New("an MCP server may not redirect")
	errExpired  = errors.New("the server has ended the session")
	errLogin    = errors.New("it returned 401: it wants a token in its 'headers'")
	errPage     = errors.New("it returned a web page")
	errLong     = fmt.Errorf("its answer is longer than %d bytes", maxMessage)
)

// NewClient returns a client for servers with an address. Only that address was approved, private
// or not: a redirect to another host is refused, and one that would lose the request.
func NewClient(proxy func(*http.Request) (*url.URL, error)) *http.Client {
	return &http.Client{
		Transport: &http.Transport{Proxy: proxy, ForceAttemptHTTP2: true},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if r.URL.Host != via[0].URL.Host || r.URL.Scheme != via[0].URL.Scheme ||
				r.Method != via[0].Method || len(via) > maxRedirects {
				to := url.URL{Scheme: r.URL.Scheme, Host: r.URL.Host, Path: r.URL.Path}
				return fmt.Errorf("%w to %s", errRedirect, to.String())
			}
			return nil
		},
	}
}

// A carrier adds headers to requests, and bounds answers: the protocol's library reads them whole.
// Refusals become errors here, since that library shows neither their status nor their text.
type carrier struct {
	next    http.RoundTripper
	headers map[string]string
}

// RoundTrip implements [http.RoundTripper].
func (c carrier) RoundTrip(r *http.Request) (*http.Response, error) {
	if len(c.headers) > 0 {
		r = r.Clone(r.Context())
	}
	for name, value := range c.headers {
		r.Header.Set(name, value)
	}
	resp, err := c.next.RoundTrip(r)
	if err != nil || isStream(resp) {
		return resp, err
	}
	resp.Body = &boundedBody{resp.Body, maxMessage}
	switch kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); {
	case r.Method == http.MethodPost && resp.StatusCode >= http.StatusBadRequest:
		return refused(r, resp)
	case kind == "text/html" && resp.StatusCode == http.StatusOK:
		return nil, errors.Join(errPage, resp.Body.Close())
	}
	return resp, nil
}

// refused returns a refused request's answer if that is a message of the protocol, else an error.
func refused(r *http.Request, resp *http.Response) (*http.Response, error) {
	isGone := resp.StatusCode == http.StatusNotFound && r.Header.Get("Mcp-Session-Id") != ""
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	err = errors.Join(err, resp.Body.Close())
	var message struct {
		ID    any             `json:"id"`
		Error json.RawMessage `json:"error"`
	}
	switch {
	case isGone:
		return nil, errExpired
	case err != nil:
		return nil, err
	case isMessage(text) && exact.Unmarshal(text, &message) == nil && message.ID != nil:
		resp.Body = io.NopCloser(bytes.NewReader(text))
		return resp, nil
	case resp.StatusCode == http.StatusUnauthorized:
		return nil, errLogin
	}
	return nil, fmt.Errorf("it returned %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
}

// isStream reports whether an answer consists of events, each of which is bounded by itself.
func isStream(resp *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return resp.StatusCode == http.StatusOK && kind == "text/event-stream"
}

// A boundedBody fails after so many bytes, unpacked ones if the answer was packed.
type boundedBody struct {
	io.ReadCloser
	left int
}

// Read implements [io.Reader].
func (b *boundedBody) Read(p []byte) (n int, err error) {
	if b.left < 0 {
		return 0, errLong
	}
	n, err = b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	b.left -= n
	return n, err
}

// client returns a client that sends the server's headers and bounds its answers.
func (s Server) client(c *http.Client) *http.Client {
	with := *c
	if with.Transport == nil {
		with.Transport = http.DefaultTransport
	}
	with.Transport = carrier{with.Transport, s.Headers}
	return &with
}
