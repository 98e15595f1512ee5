package mcp

import (
	"errors"
	"net/http"
	"net/url"
)

var errRedirect = errors.New("an MCP server may not redirect")

// NewClient returns a client for servers with an address. Only that address was approved, private
// or not: a redirect to another host is refused.
func NewClient(proxy func(*http.Request) (*url.URL, error)) *http.Client {
	return &http.Client{
		Transport: &http.Transport{Proxy: proxy, ForceAttemptHTTP2: true},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if r.URL.Host != via[0].URL.Host || r.URL.Scheme != via[0].URL.Scheme {
				return errRedirect
			}
			return nil
		},
	}
}

// headed adds headers to requests.
type headed struct {
	next    http.RoundTripper
	headers map[string]string
}

// RoundTrip implements [http.RoundTripper].
func (h headed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range h.headers {
		r.Header.Set(name, value)
	}
	return h.next.RoundTrip(r)
}

// client returns a client that sends the server's headers.
func (s Server) client(c *http.Client) *http.Client {
	if len(s.Headers) == 0 {
		return c
	}
	with := *c
	if with.Transport == nil {
		with.Transport = http.DefaultTransport
	}
	with.Transport = headed{with.Transport, s.Headers}
	return &with
}
