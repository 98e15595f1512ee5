package gemini

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/git-jp/git-jp/internal/llm"
)

// DefaultBaseURL is where Google answers.
const DefaultBaseURL = "https://generativelanguage.googleapis.com/v1beta"

// A Model is one of Google's. It implements [llm.Model], [llm.Describer] and [llm.Catalog].
type Model struct {
	name    string
	at      llm.Endpoint
	version string // of the format
	trait   trait
}

var (
	_ llm.Model     = (*Model)(nil)
	_ llm.Describer = (*Model)(nil)
	_ llm.Catalog   = (*Model)(nil)
)

// New returns the model of this name, without the provider.
func New(name string, at llm.Endpoint) *Model {
	if at.Provider == "" {
		at.Provider = "google"
	}
	if at.BaseURL == "" {
		at.BaseURL = DefaultBaseURL
	}
	m := &Model{name: strings.TrimPrefix(name, "models/"), at: at, version: "v1beta"}
	m.at.BaseURL = strings.TrimRight(at.BaseURL, "/")
	// People write the address with and without the version.
	if i := strings.LastIndexByte(m.at.BaseURL, '/'); strings.HasPrefix(m.at.BaseURL[i+1:], "v1") {
		m.at.BaseURL, m.version = m.at.BaseURL[:i], m.at.BaseURL[i+1:]
	}
	m.trait = traitOf(m.name)
	return m
}

// ID implements [llm.Model].
func (m *Model) ID() string { return m.at.ID(m.name) }

// Stream implements [llm.Model].
func (m *Model) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	return m.at.Stream(ctx, func(ctx context.Context, yield func(llm.Delta, error) bool) error {
		return m.exchange(ctx, r, yield)
	})
}

// exchange sends the request and reads the answer.
func (m *Model) exchange(
	ctx context.Context, r *llm.Request, yield func(llm.Delta, error) bool,
) error {
	b := &builder{model: m, request: r, names: llm.NewNames(r.Tools, nameRule())}
	body, err := b.build()
	if err != nil {
		return err
	}
	res, err := m.do(ctx, http.MethodPost, m.path()+":streamGenerateContent?alt=sse", body)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // only read
	return newReader(m, r, b.names, yield).read(res.Body)
}

// path returns the path of the model; tuned ones have one of their own.
func (m *Model) path() string {
	if strings.Contains(m.name, "/") {
		return m.name
	}
	return "models/" + url.PathEscape(m.name)
}

// do sends a request and returns a successful answer, whose body the caller closes.
func (m *Model) do(
	ctx context.Context, method, path string, body []byte,
) (*http.Response, error) {
	address := m.at.BaseURL + "/" + m.version + "/" + path
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	m.header(req.Header)
	res, err := m.at.Client.Do(req)
	if err == nil && res.StatusCode != http.StatusOK {
		return nil, m.failure(res)
	}
	return res, err
}

// header sets the headers that are sent; those of the endpoint win.
func (m *Model) header(h http.Header) {
	h.Set("Content-Type", "application/json")
	if m.at.Key != "" {
		h.Set("X-Goog-Api-Key", m.at.Key)
	}
	if m.at.UserAgent != "" {
		h.Set("User-Agent", m.at.UserAgent)
	}
	for name, values := range m.at.Header {
		h[http.CanonicalHeaderKey(name)] = values
	}
}

// maxError bounds what is read of an answer that is an error.
const maxError = 64 << 10

// failure reads an answer that is no success. Google says in the body how long to wait.
func (m *Model) failure(res *http.Response) error {
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxError))
	_ = res.Body.Close() // what matters of it has been read
	if err != nil {
		return err
	}
	res.Body = io.NopCloser(bytes.NewReader(raw))
	err = llm.ReadError(m.ID(), res, m.at.Now)
	var api *llm.APIError
	if errors.As(err, &api) && api.RetryAfter == 0 {
		api.RetryAfter = retryDelay(raw)
	}
	return err
}

func retryDelay(raw []byte) time.Duration {
	var body struct {
		Error struct {
			Details []struct {
				Delay string `json:"retryDelay"`
			} `json:"details"`
		} `json:"error"`
	}
	if json.Unmarshal(raw, &body) != nil {
		return 0
	}
	for _, d := range body.Error.Details {
		if wait, err := time.ParseDuration(d.Delay); err == nil && wait > 0 {
			return wait
		}
	}
	return 0
}
