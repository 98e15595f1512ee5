package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/anthropic"
	"github.com/git-jp/git-jp/internal/llm/builtin"
	"github.com/git-jp/git-jp/internal/llm/models"
	"github.com/git-jp/git-jp/internal/trust"
	"github.com/go-json-experiment/json/jsontext"
)

// ollamaWait is how long a server on this machine may take to say what it has.
const ollamaWait = 300 * time.Millisecond

// newModel makes the model that the configuration names, or the one that is always there.
func (k *talk) newModel(ctx context.Context) (llm.Model, error) {
	if k.setup.Model == "" || k.setup.Model == builtin.ID {
		return builtin.New(builtin.Options{Offer: k.app.offer(ctx, k.config)}), nil
	}
	return k.app.modelOf(k.setup.Model, k, k.app.retry(k.config))
}

// unasked is a model that has a name and is not asked.
type unasked string

// ID implements [llm.Model].
func (m unasked) ID() string { return string(m) }

// Stream implements [llm.Model].
func (m unasked) Stream(context.Context, *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		yield(llm.Delta{}, fmt.Errorf("%s is only explained", string(m)))
	}
}

// A lateModel is opened when it is asked: what is never asked needs no key.
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

// modelOf makes a model. Where it answers and which variable has its key is the user's to
// say; what others wrote needs an approval.
func (a *app) modelOf(id string, k *talk, r llm.Retry) (llm.Model, error) {
	provider, _, _ := llm.SplitID(id)
	p := k.config.Provider(provider)
	base, err := p.BaseURL.Open(k.gate)
	if err != nil {
		return nil, err
	}
	if name, err := p.BaseURLEnv.Open(k.gate); err != nil {
		return nil, err
	} else if name != "" && a.getenv(name) != "" {
		base = a.getenv(name)
	}
	var table struct {
		Chain *bool    `json:"chain_on_max_tokens"`
		Betas []string `json:"beta_headers"`
		// Of servers of one's own, and clouds that hand on.
		KeyHeader string     `json:"api_key_header"`
		Format    llm.Format `json:"format"`
	}
	if json.Unmarshal(p.JSON, &table) != nil {
		table.Betas = nil
	}
	o := models.Options{
		BaseURL: base, KeyHeader: table.KeyHeader, Format: table.Format,
		Client: a.client(k.config), Retry: r, Now: a.now,
		UserAgent: a.userAgent(),
		Key: func(found models.Provider) (string, error) {
			name, err := p.APIKeyEnv.Open(k.gate)
			if err != nil {
				return "", err
			}
			if name == "" {
				name = found.KeyEnv
			}
			return a.getenv(name), nil
		},
		Anthropic: anthropic.Options{Continue: anthropic.DefaultContinue, Betas: table.Betas},
	}
	if table.Chain != nil && !*table.Chain {
		o.Anthropic.Continue = 0
	}
	m, err := models.New(id, o)
	if key, ok := errors.AsType[*models.KeyError](err); ok {
		if name, _ := p.APIKeyEnv.Open(k.gate); name != "" { // what is refused has no name
			key.Provider.KeyEnv = name
		}
	}
	return m, err
}

// assistant returns the model that answers a question of a tool: what the question's settings
// name, or those of all inquiries; nil for the model that is asked anyway.
func (k *talk) assistant(target jsontext.Value) (llm.Model, error) {
	var own struct {
		Model struct {
			ID json.RawMessage `json:"id"`
		} `json:"model"`
	}
	if json.Unmarshal(target, &own) != nil || own.Model.ID == nil {
		return k.modelAt("conversation", "inquiry", "assistant", "model")
	}
	var name string
	var id jpconfig.ModelID
	if json.Unmarshal(own.Model.ID, &id) == nil && !id.IsZero() {
		return k.modelOr(id)
	}
	if err := json.Unmarshal(own.Model.ID, &name); err != nil {
		return nil, usagef("%s names no model", own.Model.ID)
	}
	id, err := k.config.ResolveModel(name)
	if err != nil {
		return nil, err
	}
	return k.modelOr(id)
}

// modelAt makes the model that a place in the configuration names, nil for none.
func (k *talk) modelAt(path ...string) (llm.Model, error) {
	m, err := k.config.ModelAt(path...)
	if err != nil && !errors.Is(err, jpconfig.ErrNoModel) {
		return nil, err
	}
	return k.modelOr(m.ID)
}

func (k *talk) modelOr(id jpconfig.ModelID) (llm.Model, error) {
	if id.IsZero() || id.String() == k.model.ID() {
		return nil, nil
	}
	return k.app.modelOf(id.String(), k, k.app.retry(k.config))
}

// continues is how often the turn goes on after a limit: never where the adapter does.
func (k *talk) continues() int {
	if provider, _, _ := llm.SplitID(k.model.ID()); provider == "anthropic" {
		return -1
	}
	return 0
}

func (a *app) client(c *jpconfig.Config) llm.ClientOptions {
	network := a.openConfig.Settings().Network
	o := llm.ClientOptions{
		Proxy: llm.ProxyFromEnv(a.getenv), Connect: network.Connect, First: network.FirstToken,
	}
	var idle int
	if c.Decode(&idle, "assistant", "request", "stream_idle_timeout_secs") {
		o.Idle = time.Duration(max(idle, 10)) * time.Second
		if idle == 0 {
			o.Idle = 24 * time.Hour
		}
	}
	c.Decode(&o.MaxBytes, "assistant", "request", "max_response_bytes")
	o.MaxBytes *= 16 // jp counts text; this is what carries it
	return o
}

// retry is the policy of the configuration.
func (a *app) retry(c *jpconfig.Config) llm.Retry {
	r := llm.DefaultRetry(a.random)
	at := func(key string) []string { return []string{"assistant", "request", key} }
	var base, limit int
	c.Decode(&r.Max, at("max_retries")...)
	if c.Decode(&base, at("base_backoff_ms")...) {
		r.Base = time.Duration(base) * time.Millisecond
	}
	if c.Decode(&limit, at("max_backoff_secs")...) {
		r.Cap = time.Duration(limit) * time.Second
	}
	r.Notify = func(attempt int, wait time.Duration, cause error) {
		a.terminal.NoteBetween("%v; trying again in %s", cause, seconds(wait))
	}
	return r
}

// modelsPage says where to read on.
const modelsPage = "Providers, keys and servers of your own: " +
	"https://github.com/git-jp/git-jp/blob/main/docs/models.md"

// offer tells of a model that could be used: a key that is set, or a server on this machine.
func (a *app) offer(ctx context.Context, c *jpconfig.Config) string {
	table, err := models.Builtin()
	if err != nil {
		return ""
	}
	for _, p := range models.Providers() {
		if p.KeyEnv == "" || a.getenv(p.KeyEnv) == "" {
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
	return a.offerLocal(ctx, c)
}

// firstOf returns the first model of a provider, "" where none is known.
func firstOf(table *models.Table, provider string) string {
	for _, row := range table.Rows() {
		if of, _, _ := llm.SplitID(row.ID); of == provider {
			return row.ID
		}
	}
	return ""
}

func (a *app) offerLocal(ctx context.Context, c *jpconfig.Config) string {
	ctx, cancel := context.WithTimeout(ctx, ollamaWait)
	defer cancel()
	list, err := a.catalog(ctx, "ollama", &talk{app: a, config: c, gate: trust.Nobody{}})
	if err != nil || len(list) == 0 {
		return "Choose one for good with `git jp setup`, or once with `--model provider/name`; " +
			"`git jp models` lists them. " + modelsPage
	}
	return fmt.Sprintf("Ollama runs on this machine: ask with `--model %s`, or choose it for "+
		"good with `git jp config set assistant.model.id %s`. %s",
		list[0].ID, list[0].ID, modelsPage)
}

// errNoCatalog is the error of a provider that does not tell what it has.
var errNoCatalog = errors.New("the provider has no list of models")

// catalog asks a provider what it has.
func (a *app) catalog(ctx context.Context, provider string, k *talk) ([]llm.Info, error) {
	m, err := a.modelOf(provider+"/any", k, llm.Retry{})
	if name, ok := errors.AsType[*models.NameError](err); ok {
		name.Name = provider + "/…"
	}
	if err != nil {
		return nil, err
	}
	c, ok := m.(llm.Catalog)
	if !ok {
		return nil, fmt.Errorf("list models of %s: %w", provider, errNoCatalog)
	}
	return c.Models(ctx)
}
