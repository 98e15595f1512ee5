package anthropic

import (
	"cmp"
	"context"
	"io"
	"iter"
	"net/http"
	"strings"

	"github.com/git-jp/git-jp/internal/llm"
)

// DefaultBaseURL is the address of Anthropic's API.
const DefaultBaseURL = "https://api.anthropic.com"

// DefaultContinue is the default of [Options.Continue].
const DefaultContinue = 5

// Options are specific to Anthropic.
type Options struct {
	// Continue limits how often an answer that was cut off at its limit is continued.
	Continue int
	// Betas are names of beta features, sent with every request.
	Betas []string
}

// A Model is one of Anthropic's models. It implements [llm.Model], [llm.Describer] and
// [llm.Catalog].
type Model struct {
	name string
	at   llm.Endpoint
	o    Options
}

// New returns the model of this name, without the provider.
func New(name string, at llm.Endpoint, o Options) *Model {
	at.Provider, at.Model = cmp.Or(at.Provider, "anthropic"), name
	at.BaseURL = cmp.Or(at.BaseURL, DefaultBaseURL)
	at.KeyHeader = cmp.Or(at.KeyHeader, "X-Api-Key")
	return &Model{name: name, at: at, o: o}
}

// header returns the request headers, with beta features of the request beside those of the
// options.
func (m *Model) header(betas ...string) http.Header {
	h := m.at.Bearer()
	if h.Get("Anthropic-Version") == "" {
		h.Set("Anthropic-Version", "2023-06-01")
	}
	if len(m.o.Betas) > 0 {
		h.Add("Anthropic-Beta", strings.Join(m.o.Betas, ","))
	}
	for _, beta := range betas {
		h.Add("Anthropic-Beta", beta)
	}
	return h
}

// ID implements [llm.Model].
func (m *Model) ID() string { return m.at.ID(m.name) }

// Stream implements [llm.Model].
func (m *Model) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		newAnswer(m, r, yield).run(ctx)
	}
}

// send posts one body and calls read with that of the response.
func (m *Model) send(ctx context.Context, b *built, read func(io.Reader) error) error {
	header := m.header(b.betas...)
	header.Set("Accept", "text/event-stream")
	return m.at.Post(ctx, m.at.At("v1/messages"), header, b.body, read)
}
