package openai

import (
	"cmp"
	"context"
	"iter"

	"github.com/git-jp/git-jp/internal/llm"
)

// DefaultBaseURL is the address of OpenAI's API.
const DefaultBaseURL = "https://api.openai.com"

// A Model is one of OpenAI's models, or of a server with its format. It implements [llm.Model] and
// [llm.Catalog].
type Model struct {
	name  string
	at    llm.Endpoint
	trait trait
}

var (
	_ llm.Model   = (*Model)(nil)
	_ llm.Catalog = (*Model)(nil)
)

// New returns the model of this name, without the provider.
func New(name string, at llm.Endpoint) *Model {
	at.Provider, at.Model = cmp.Or(at.Provider, "openai"), name
	at.BaseURL = llm.Below(cmp.Or(at.BaseURL, DefaultBaseURL), "/v1")
	return &Model{name: name, at: at, trait: traitOf(name)}
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
		model: m, request: r, names: llm.NewNames(r.Tools, nameRule()), ids: map[string]bool{},
		unsigned: unsigned,
	}
	body, err := b.build()
	if err != nil {
		return err
	}
	header := m.at.Bearer()
	header.Set("Accept", "text/event-stream")
	read := newReader(m, r, b.names, yield).read
	return m.at.Post(ctx, m.at.At("responses"), header, body, read)
}

// Models implements [llm.Catalog].
func (m *Model) Models(ctx context.Context) ([]llm.Info, error) {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := m.at.Fetch(ctx, m.at.At("models"), m.at.Bearer(), &list); err != nil {
		return nil, err
	}
	infos := make([]llm.Info, len(list.Data))
	for i, d := range list.Data {
		infos[i] = llm.Info{ID: d.ID, Reasoning: traitOf(d.ID).reasons}
	}
	return infos, nil
}
