package ollama

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/wire"
)

// DefaultBaseURL is the address of a server on this machine.
const DefaultBaseURL = "http://localhost:11434"

// A Model is a model of an Ollama server. It implements [llm.Model], [llm.Describer] and
// [llm.Catalog].
type Model struct {
	name string
	at   llm.Endpoint
	// larger is set after a window was too small by the server's count, and a larger one was not:
	// the server would load the model again for each of the two.
	larger atomic.Bool
}

// New returns the model of this name, without the provider.
func New(name string, at llm.Endpoint) *Model {
	at.Provider, at.Model = cmp.Or(at.Provider, "ollama"), name
	at.BaseURL = cmp.Or(at.BaseURL, DefaultBaseURL)
	return &Model{name: name, at: at}
}

// ID implements [llm.Model].
func (m *Model) ID() string { return m.at.ID(m.name) }

// Stream implements [llm.Model].
func (m *Model) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		b := builder{model: m, request: r, names: llm.NewNames(r.Tools, wire.WordRule(64))}
		b.larger = m.larger.Load()
		for {
			body, err := b.build()
			if err != nil {
				yield(llm.Delta{}, err)
				return
			}
			exchange := func(ctx context.Context, yield func(llm.Delta, error) bool) error {
				return m.exchange(ctx, &b, body, yield)
			}
			err, ok := m.at.Attempt(ctx, r, yield, exchange)
			if ok && err != nil && !b.plain && thinkingRefused(err) {
				b.plain = true
				continue
			}
			if ok && b.tooSmall(err) {
				b.larger = true
				continue
			}
			if ok && err != nil {
				yield(llm.Delta{}, err)
			} else {
				m.larger.Store(b.larger)
			}
			return
		}
	}
}

// thinkingRefused reports whether the error is that of a model that cannot think.
func thinkingRefused(err error) bool {
	var api *llm.APIError
	return errors.As(err, &api) && api.Status == http.StatusBadRequest &&
		strings.Contains(api.Message, "does not support thinking")
}

// tooSmall reports whether the error is a refusal of the window that fit chose.
func (b *builder) tooSmall(err error) bool {
	_, asked := b.request.Params.Other["num_ctx"]
	var overflow *llm.OverflowError
	var api *llm.APIError // in the middle of an answer it has no status
	return !asked && !b.larger && errors.As(err, &overflow) && errors.As(err, &api) &&
		api.Status == http.StatusBadRequest
}

func (m *Model) exchange(
	ctx context.Context, b *builder, body []byte, yield func(llm.Delta, error) bool,
) error {
	x := reader{b: b, assembler: llm.NewAssembler(b.request, yield)}
	read := func(body io.Reader) error { return x.assembler.Broken(x.read(body)) }
	return m.at.Post(ctx, m.address("/api/chat"), m.at.Bearer(), body, read)
}

// address returns the address of a path of the format.
func (m *Model) address(path string) string { return strings.TrimRight(m.at.BaseURL, "/") + path }

// A tag is one entry of the server's list.
type tag struct {
	Name    string `json:"name"`
	Details struct {
		Window int `json:"context_length"`
	} `json:"details"`
	Capabilities []string `json:"capabilities"`
}

// Models implements [llm.Catalog].
func (m *Model) Models(ctx context.Context) ([]llm.Info, error) {
	var list struct {
		Models []tag `json:"models"`
	}
	err := m.at.Fetch(ctx, m.address("/api/tags"), m.at.Bearer(), &list)
	return lists.Map(list.Models, m.info), err
}

func (m *Model) info(t tag) llm.Info {
	info := llm.Info{ID: m.at.ID(t.Name), Title: t.Name, Window: t.Details.Window}
	for _, c := range t.Capabilities {
		switch c {
		case "vision":
			info.Accepts.Images = true
		case "tools":
			info.Tools = true
		case "thinking":
			info.Reasoning = true
		}
	}
	return info
}

// Describe implements [llm.Describer].
func (m *Model) Describe(ctx context.Context) (llm.Info, error) {
	infos, err := m.Models(ctx)
	for _, info := range infos {
		if info.ID == m.ID() || info.ID == m.ID()+":latest" {
			return info, err
		}
	}
	if err == nil {
		err = fmt.Errorf("%s has no model %s", m.at.Provider, m.name)
	}
	return llm.Info{ID: m.ID()}, err
}
