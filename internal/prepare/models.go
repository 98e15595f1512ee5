package prepare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/anthropic"
	"github.com/git-jp/git-jp/internal/llm/builtin"
	"github.com/git-jp/git-jp/internal/llm/models"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/git-jp/git-jp/internal/trust"
)

// LocalWait limits the wait for a server on this machine to list its models.
const LocalWait = 300 * time.Millisecond

// Models creates models by the configuration.
type Models struct {
	Host    *Host
	Network config.Network
	Config  *jpconfig.Config
	// Gate approves the address of a model and the variable of its key.
	Gate trust.Gate
}

// New returns a model. The user decides on its address and on the variable of its key; foreign
// settings of these need an approval.
func (s Models) New(id string, r llm.Retry) (llm.Model, error) {
	provider, _, _ := llm.SplitID(id)
	p := s.Config.Provider(provider)
	base, err := s.address(p)
	if err != nil {
		return nil, err
	}
	table := tableOf(p)
	o := models.Options{
		BaseURL: base, KeyHeader: table.KeyHeader, Format: table.Format,
		Client: s.client(), Retry: r, Now: s.Host.Now, UserAgent: s.Host.userAgent(),
		Key: func(found models.Provider) (string, error) {
			name, err := p.APIKeyEnv.Open(s.Gate)
			if err != nil {
				return "", err
			}
			name = cmp.Or(name, found.KeyEnv)
			return s.Host.Getenv(name), nil
		},
		Anthropic: anthropic.Options{Continue: anthropic.DefaultContinue, Betas: table.Betas},
	}
	if !table.chains() {
		o.Anthropic.Continue = 0
	}
	m, err := models.New(id, o)
	if key, ok := errors.AsType[*models.KeyError](err); ok {
		if name, _ := p.APIKeyEnv.Open(s.Gate); name != "" { // a refused variable is not named
			key.Provider.KeyEnv = name
		}
	}
	return m, err
}

// A table has the settings of a provider that are not jp's, or only for one format.
type table struct {
	Chain *bool    `json:"chain_on_max_tokens"`
	Betas []string `json:"beta_headers"`
	// For servers that users run themselves, and for gateways.
	KeyHeader string      `json:"api_key_header"`
	Format    wire.Format `json:"format"`
}

func tableOf(p jpconfig.Provider) (t table) {
	if exact.Unmarshal(p.JSON, &t) != nil {
		t.Betas = nil
	}
	return t
}

// chains reports whether an answer that was cut off is continued by the adapter.
func (t table) chains() bool { return t.Chain == nil || *t.Chain }

// address returns the configured address of a provider, "" for its default.
func (s Models) address(p jpconfig.Provider) (string, error) {
	base, err := p.BaseURL.Open(s.Gate)
	if err != nil {
		return "", err
	}
	name, err := p.BaseURLEnv.Open(s.Gate)
	if err == nil && name != "" && s.Host.Getenv(name) != "" {
		base = s.Host.Getenv(name)
	}
	return base, err
}

// Builtin returns the search that answers if no model is configured.
func (s Models) Builtin(ctx context.Context) llm.Model {
	return builtin.New(builtin.Options{Offer: s.offer(ctx)})
}

func (s Models) client() wire.ClientOptions {
	o := wire.ClientOptions{
		Proxy: wire.ProxyFromEnv(s.Host.Getenv), Connect: s.Network.Connect,
		First: s.Network.FirstToken,
	}
	var idle int
	if s.Config.Decode(&idle, "assistant", "request", "stream_idle_timeout_secs") {
		o.Idle = time.Duration(max(idle, 10)) * time.Second
		if idle == 0 {
			o.Idle = 24 * time.Hour
		}
	}
	s.Config.Decode(&o.MaxBytes, "assistant", "request", "max_response_bytes")
	o.MaxBytes *= 16 // jp counts text; the wire format is longer
	return o
}

// Retry returns the configured retry policy.
func (s Models) Retry() llm.Retry {
	r := llm.DefaultRetry(s.Host.Random)
	at := func(key string) []string { return []string{"assistant", "request", key} }
	var base, limit int
	s.Config.Decode(&r.Max, at("max_retries")...)
	if s.Config.Decode(&base, at("base_backoff_ms")...) {
		r.Base = time.Duration(base) * time.Millisecond
	}
	if s.Config.Decode(&limit, at("max_backoff_secs")...) {
		r.Cap = time.Duration(limit) * time.Second
	}
	r.Notify = func(attempt int, wait time.Duration, cause error) {
		s.Host.Terminal.NoteBetween("%v; trying again in %.1f s", cause, wait.Seconds())
	}
	return r
}

// modelsPage names the page with further details.
const modelsPage = "Providers, keys and servers of your own: " +
	"https://github.com/git-jp/git-jp/blob/main/docs/models.md"

// offer returns a sentence about a model that could be used: its key is set, or its server runs on
// this machine.
func (s Models) offer(ctx context.Context) string {
	table, err := s.Host.Models()
	if err != nil {
		return ""
	}
	for _, p := range models.Providers() {
		if p.KeyEnv == "" || s.Host.Getenv(p.KeyEnv) == "" {
			continue
		}
		if id := firstOf(table, p.Name); id != "" {
			return fmt.Sprintf("%s is set: ask with `--model %s`, or choose it for good with "+
				"`git jp config set assistant.model.id %s`. %s", p.KeyEnv, id, id, modelsPage)
		}
		return fmt.Sprintf("%s is set: `git jp models %s` lists its models; ask with "+
			"`--model %s/name`, or choose one for good with `git jp config set "+
			"assistant.model.id %s/name`. %s", p.KeyEnv, p.Name, p.Name, p.Name, modelsPage)
	}
	return s.offerLocal(ctx)
}

// firstOf returns the first model of a provider, "" if none is known.
func firstOf(table *models.Table, provider string) string {
	for _, row := range table.Rows() {
		if of, _, _ := llm.SplitID(row.ID); of == provider {
			return row.ID
		}
	}
	return ""
}

func (s Models) offerLocal(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, LocalWait)
	defer cancel()
	s.Gate = trust.Nobody{}
	list, err := s.Catalog(ctx, "ollama")
	if err != nil || len(list) == 0 {
		return "Choose one for good with `git jp setup`, or once with `--model provider/name`; " +
			"`git jp models` lists them. " + modelsPage
	}
	return fmt.Sprintf("Ollama runs on this machine: ask with `--model %s`, or choose it for "+
		"good with `git jp config set assistant.model.id %s`. %s",
		list[0].ID, list[0].ID, modelsPage)
}

// ErrNoCatalog is the error for a provider without a list of models.
var ErrNoCatalog = errors.New("the provider has no list of models")

// Catalog requests the list of models from a provider.
func (s Models) Catalog(ctx context.Context, provider string) ([]llm.Info, error) {
	m, err := s.New(provider+"/any", llm.Retry{})
	if name, ok := errors.AsType[*models.NameError](err); ok {
		name.Name = provider + "/…"
	}
	if err != nil {
		return nil, err
	}
	c, ok := m.(llm.Catalog)
	if !ok {
		return nil, fmt.Errorf("list models of %s: %w", provider, ErrNoCatalog)
	}
	return c.Models(ctx)
}

// unasked is a model that has an id but cannot be asked.
type unasked string

// ID implements [llm.Model].
func (m unasked) ID() string { return string(m) }

// Stream implements [llm.Model].
func (m unasked) Stream(context.Context, *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		yield(llm.Delta{}, fmt.Errorf("%s is only explained", string(m)))
	}
}

// A lateModel is opened at its first request, so that it needs no key before.
type lateModel struct {
	id   string
	open func() (llm.Model, error)
}

// ID implements [llm.Model].
func (m lateModel) ID() string { return m.id }

// Stream implements [llm.Model].
func (m lateModel) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	opened, err := m.open()
	if err != nil {
		return func(yield func(llm.Delta, error) bool) { yield(llm.Delta{}, err) }
	}
	return opened.Stream(ctx, r)
}
