package mcp

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
)

// maxRedirects limits how often one request is redirected.
const maxRedirects = 10

var (
	errRedirect = errors.New("an MCP server may not redirect")
	errLong     = fmt.Errorf("its answer is longer than %d bytes", maxMessage)
)

// NewClient returns a client for servers with an address. Only that address was approved, private
// or not: a redirect to another host is refused.
func NewClient(proxy func(*http.Request) (*url.URL, error)) *http.Client {
	return &http.Client{
		Transport: &http.Transport{Proxy: proxy, ForceAttemptHTTP2: true},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if r.URL.Host != via[0].URL.Host || r.URL.Scheme != via[0].URL.Scheme ||
				len(via) > maxRedirects {
				return errRedirect
			}
			return nil
		},
	}
}

// A carrier adds headers to requests, and bounds answers: the protocol's library reads them whole.
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
	if err == nil && !isStream(resp) {
		resp.Body = &boundedBody{resp.Body, maxMessage}
	}
	return resp, err
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
