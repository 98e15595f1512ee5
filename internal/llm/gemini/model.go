package gemini

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/git-jp/git-jp/internal/llm"
	"google.golang.org/genai"
)

// DefaultBaseURL is where Google answers.
const DefaultBaseURL = "https://generativelanguage.googleapis.com/v1beta"

// A Model is one of Google's. It implements [llm.Model], [llm.Describer] and [llm.Catalog].
type Model struct {
	name    string
	at      llm.Endpoint
	version string // of the format, part of every path
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
	// The address is written with the version, which the library adds itself.
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
	return m.at.Retry.Stream(ctx, func(ctx context.Context) iter.Seq2[llm.Delta, error] {
		return func(yield func(llm.Delta, error) bool) {
			if err := m.exchange(ctx, r, yield); err != nil {
				yield(llm.Delta{}, err)
			}
		}
	})
}

// exchange sends the request and reads the answer.
func (m *Model) exchange(
	ctx context.Context, r *llm.Request, yield func(llm.Delta, error) bool,
) error {
	b := &builder{model: m, request: r, names: llm.NewNames(r.Tools, nameRule())}
	if err := b.build(); err != nil {
		return err
	}
	res, err := m.send(ctx, b)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // only read
	return newReader(m, r, b.names, yield).read(res.Body)
}

// send lets the library post one body and returns the answer's, which the caller closes.
func (m *Model) send(ctx context.Context, b *builder) (*http.Response, error) {
	t := &taker{model: m}
	c, err := genai.NewClient(ctx, &genai.ClientConfig{
		Backend: genai.BackendGeminiAPI,
		// Without a key the library would look for one in the environment.
		APIKey: first(m.at.Key, "none"),
		HTTPClient: &http.Client{
			Transport: t, CheckRedirect: m.at.Client.CheckRedirect,
		},
		HTTPOptions: genai.HTTPOptions{BaseURL: m.at.BaseURL, APIVersion: m.version},
	})
	if err != nil {
		// The library's message shows the key.
		return nil, errors.New("set up the library for Gemini: it refuses the address or the key")
	}
	for _, err := range c.Models.GenerateContentStream(ctx, m.name, placeholder(), b.config) {
		if err != nil && t.taken == nil {
			return nil, t.reason(err)
		}
	}
	if t.taken == nil {
		return nil, &llm.CutError{Provider: m.at.Provider}
	}
	return t.taken, nil
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// placeholder stands where the library wants contents; the builder replaces it.
func placeholder() []*genai.Content { return genai.Text(".") }

// A taker sends a request as the endpoint wants it and takes the answer out of the library's
// hands.
type taker struct {
	model *Model
	taken *http.Response
	err   error
}

// RoundTrip implements [http.RoundTripper].
func (t *taker) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header = t.model.header(req.Header)
	res, err := t.model.at.Client.Do(req)
	if err == nil && res.StatusCode != http.StatusOK {
		err = t.model.failure(res)
	}
	if err != nil {
		t.err = err
		return nil, err
	}
	t.taken = res
	return &http.Response{
		Status: res.Status, StatusCode: res.StatusCode, Header: res.Header, Body: http.NoBody,
		Proto: res.Proto, ProtoMajor: res.ProtoMajor, ProtoMinor: res.ProtoMinor, Request: req,
	}, nil
}

// reason returns why nothing was taken, without what the library says around it.
func (t *taker) reason(err error) error {
	if t.err != nil {
		return t.err
	}
	return err
}

// header returns the headers that are sent; those of the endpoint win.
func (m *Model) header(h http.Header) http.Header {
	h = h.Clone()
	h.Del("X-Goog-Api-Key")
	if m.at.Key != "" {
		h.Set("X-Goog-Api-Key", m.at.Key)
	}
	if m.at.UserAgent != "" {
		h.Set("User-Agent", m.at.UserAgent)
	}
	for name, values := range m.at.Header {
		h[http.CanonicalHeaderKey(name)] = values
	}
	return h
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
