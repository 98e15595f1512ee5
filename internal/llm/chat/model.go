package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/wire"
)

// A Model is one of a server's models. It implements [llm.Model], [llm.Describer] and
// [llm.Catalog].
type Model struct {
	name    string
	at      llm.Endpoint
	dialect dialect
}

var (
	_ llm.Model     = (*Model)(nil)
	_ llm.Describer = (*Model)(nil)
	_ llm.Catalog   = (*Model)(nil)
)

// New returns the model of this name, without the provider, of the server that the provider names.
func New(name string, at llm.Endpoint) *Model {
	d := dialectOf(at.Provider, name)
	at.Model, at.BaseURL = name, d.address(at.BaseURL)
	return &Model{name: name, at: at, dialect: d}
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
		model: m, request: r, names: llm.NewNames(r.Tools, wire.WordRule(64)), unsigned: unsigned,
	}
	body, err := b.build()
	if err != nil {
		return err
	}
	header := m.at.Bearer()
	header.Set("Accept", "text/event-stream")
	if m.dialect.session != "" && r.Session != "" {
		header.Set(m.dialect.session, r.Session)
	}
	read := newReader(m, r, b.names, yield).read
	return m.at.Post(ctx, m.at.At("chat/completions"), header, body, read)
}

// An offer is an entry of a list of models, with the members of OpenRouter, vLLM and llama.cpp.
type offer struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Window int    `json:"context_length"`
	MaxLen int    `json:"max_model_len"`
	Meta   struct {
		Trained int `json:"n_ctx_train"`
	} `json:"meta"`
	Top struct {
		Window    int `json:"context_length"` // of the default server; others may have more
		MaxOutput int `json:"max_completion_tokens"`
	} `json:"top_provider"`
	Architecture struct {
		Inputs []string `json:"input_modalities"`
	} `json:"architecture"`
	Parameters []string `json:"supported_parameters"`
	// Pricing is OpenRouter's, in USD per token; other servers use the member otherwise.
	Pricing json.RawMessage `json:"pricing"`
}

func (o offer) price() llm.Price {
	var members map[string]json.RawMessage
	if json.Unmarshal(o.Pricing, &members) != nil {
		return llm.Price{}
	}
	million := func(member string) float64 {
		usd, err := strconv.ParseFloat(strings.Trim(string(members[member]), `"`), 64)
		if err != nil || usd < 0 || usd > 1 { // negative if it depends on the server
			return 0
		}
		return math.Round(usd*1e12) / 1e6 // without rounding errors
	}
	return llm.Price{
		Input: million("prompt"), Output: million("completion"),
		Read: million("input_cache_read"), Write: million("input_cache_write"),
	}
}

func (o offer) info() llm.Info {
	i := llm.Info{ID: o.ID, Title: o.Name, MaxOutput: o.Top.MaxOutput}
	for _, n := range []int{o.Top.Window, o.Window, o.MaxLen, o.Meta.Trained} {
		i.Window = cmp.Or(i.Window, n)
	}
	for _, in := range o.Architecture.Inputs {
		i.Accepts.Images = i.Accepts.Images || in == "image"
		i.Accepts.PDFs = i.Accepts.PDFs || in == "file"
		i.Accepts.Audio = i.Accepts.Audio || in == "audio"
	}
	i.Price = o.price()
	for _, p := range o.Parameters {
		i.Reasoning = i.Reasoning || p == "reasoning"
		i.Tools = i.Tools || p == "tools"
	}
	return i
}

// root is the server's address without the version.
func (m *Model) root() string {
	return strings.TrimSuffix(strings.TrimSuffix(m.at.BaseURL, "/"), "/v1")
}

// Models implements [llm.Catalog]. Some servers have a more detailed list than the common one,
// which a gateway in front of the server may lack.
func (m *Model) Models(ctx context.Context) ([]llm.Info, error) {
	var list struct {
		Data []offer `json:"data"`
	}
	fetch := func(address string) error {
		return m.at.Fetch(ctx, address, m.at.Bearer(), &list)
	}
	own, usual := m.root()+m.dialect.list, m.at.At("models")
	if m.dialect.list == "" {
		own = usual
	}
	err := fetch(own)
	if api, ok := errors.AsType[*llm.APIError](err); ok && api.Status == http.StatusNotFound &&
		own != usual {
		err = fetch(usual)
	}
	if err != nil {
		return nil, err
	}
	return lists.Map(list.Data, offer.info), nil
}

// Describe implements [llm.Describer]. It asks the server.
func (m *Model) Describe(ctx context.Context) (llm.Info, error) {
	if m.dialect.props {
		return m.props(ctx)
	}
	infos, err := m.Models(ctx)
	if err != nil {
		return llm.Info{}, err
	}
	for _, i := range infos {
		if i.ID == m.name {
			return i, nil
		}
	}
	return llm.Info{ID: m.name}, nil
}

// props returns the window that a llama.cpp was started with, which its list of models does not
// have.
func (m *Model) props(ctx context.Context) (llm.Info, error) {
	var p struct {
		Settings struct {
			Window int `json:"n_ctx"`
		} `json:"default_generation_settings"`
		Modalities struct {
			Vision bool `json:"vision"`
			Audio  bool `json:"audio"`
		} `json:"modalities"`
	}
	if err := m.at.Fetch(ctx, m.root()+"/props", m.at.Bearer(), &p); err != nil {
		return llm.Info{}, err
	}
	return llm.Info{
		ID: m.name, Window: p.Settings.Window, Tools: true,
		Accepts: llm.Inputs{Images: p.Modalities.Vision, Audio: p.Modalities.Audio},
	}, nil
}
