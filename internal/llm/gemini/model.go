package gemini

import (
	"cmp"
	"context"
	"iter"
	"net/url"
	"strings"

	"github.com/git-jp/git-jp/internal/llm"
)

// DefaultBaseURL is the address of Google's API.
const DefaultBaseURL = "https://generativelanguage.googleapis.com/v1beta"

// A Model is one of Google's models. It implements [llm.Model], [llm.Describer] and [llm.Catalog].
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
	at.Provider = cmp.Or(at.Provider, "google")
	at.BaseURL = cmp.Or(at.BaseURL, DefaultBaseURL)
	at.KeyHeader = "X-Goog-Api-Key"
	at.Model = strings.TrimPrefix(name, "models/")
	m := &Model{name: at.Model, at: at, version: "v1beta"}
	m.at.BaseURL = strings.TrimRight(at.BaseURL, "/")
	// Users write the address with or without the version.
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
	return m.at.Stream(ctx, r, m.exchange)
}

// exchange sends the request and reads the answer.
func (m *Model) exchange(
	ctx context.Context, r *llm.Request, unsigned bool, yield func(llm.Delta, error) bool,
) error {
	b := &builder{
		model: m, request: r, names: llm.NewNames(r.Tools, nameRule()), unsigned: unsigned,
	}
	body, err := b.build()
	if err != nil {
		return err
	}
	address := m.address(m.path() + ":streamGenerateContent?alt=sse")
	return m.at.Post(ctx, address, m.at.Bearer(), body, newReader(m, r, b.names, yield).read)
}

// path returns the path of the model; tuned models have their own.
func (m *Model) path() string {
	if strings.Contains(m.name, "/") {
		return m.name
	}
	return "models/" + url.PathEscape(m.name)
}

// address returns the address of a path of the format.
func (m *Model) address(path string) string { return m.at.BaseURL + "/" + m.version + "/" + path }
