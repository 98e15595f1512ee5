package jpconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/trust"
)

// A ModelID names a model in jp's format.
type ModelID struct {
	Provider string `json:"provider"`
	Name     string `json:"name"`
}

// String returns "provider/name".
func (m ModelID) String() string { return m.Provider + "/" + m.Name }

// IsZero reports whether the id is empty.
func (m ModelID) IsZero() bool { return m.Provider == "" && m.Name == "" }

// A Model is a model with its parameters.
type Model struct {
	ID         ModelID
	Parameters Parameters
}

// Parameters are the parameters of a model; nil leaves the choice to the provider.
type Parameters struct {
	MaxTokens   *int64   `json:"max_tokens"`
	Temperature *float64 `json:"temperature"`
	TopP        *float64 `json:"top_p"`
	TopK        *int64   `json:"top_k"`
	ServiceTier string   `json:"service_tier"`
	Reasoning   Reasoning
	StopWords   []string
	Other       map[string]json.RawMessage // parameters of one provider
}

// Reasoning is how much a model reasons.
type Reasoning struct {
	Effort  string // "off", "auto", "none" … "max", or a number of tokens; "" if not set
	Exclude bool   // the reasoning is not returned
}

// UnmarshalJSON reads a word or a table.
func (r *Reasoning) UnmarshalJSON(b []byte) error {
	if exact.Unmarshal(b, &r.Effort) == nil {
		return nil
	}
	var tokens exact.Number
	if exact.Unmarshal(b, &tokens) == nil {
		r.Effort = tokens.String()
		return nil
	}
	var table struct {
		Effort    json.RawMessage `json:"effort"`
		Absolute  exact.Number    `json:"absolute"` // as jp stores a number of tokens
		MaxTokens exact.Number    `json:"max_tokens"`
		Exclude   bool            `json:"exclude"`
	}
	if err := exact.Unmarshal(b, &table); err != nil {
		return err
	}
	r.Effort = "auto"
	switch {
	case table.Effort != nil && string(table.Effort) != "null":
		var inner Reasoning
		if err := inner.UnmarshalJSON(table.Effort); err != nil {
			return err
		}
		r.Effort = inner.Effort
	case table.Absolute != "":
		r.Effort = table.Absolute.String()
	case table.MaxTokens != "":
		r.Effort = table.MaxTokens.String()
	}
	r.Exclude = table.Exclude
	return nil
}

// ErrAlias is the error for aliases that refer to each other.
var ErrAlias = errors.New("aliases form a cycle")

// ErrModelName is the error for a name that is neither an alias nor a model.
var ErrModelName = errors.New("neither an alias nor provider/name")

// ErrNoModel is the error if no model is configured.
var ErrNoModel = errors.New("no model is configured")

// ToolChoice returns assistant.tool_choice: "auto", "none", "required" or the name of a tool.
func (c *Config) ToolChoice() string {
	var on bool
	if c.Decode(&on, "assistant", "tool_choice") {
		return map[bool]string{true: "auto", false: "none"}[on]
	}
	return c.text("assistant", "tool_choice")
}

// Cache returns assistant.request.cache: "off", "short", "long" or a duration.
func (c *Config) Cache() string {
	var on bool
	if c.Decode(&on, "assistant", "request", "cache") {
		return map[bool]string{true: "short", false: "off"}[on]
	}
	return c.text("assistant", "request", "cache")
}

// Author returns user.name.
func (c *Config) Author() string { return c.text("user", "name") }

// Model returns the model of the assistant.
func (c *Config) Model() (Model, error) { return c.ModelAt("assistant", "model") }

// ModelAt returns the model at a path of the configuration, such as that for titles.
func (c *Config) ModelAt(path ...string) (Model, error) {
	raw, _, ok := c.Value(slices.Concat(path, []string{"id"})...)
	if claim, held := c.held[strings.Join(path, ".")]; held && !ok {
		return Model{}, &trust.RefusedError{Claim: claim}
	}
	if !ok {
		return Model{}, fmt.Errorf("%s: %w", strings.Join(path, "."), ErrNoModel)
	}
	id, err := resolve(c.alias, raw, nil)
	if err != nil {
		return Model{}, fmt.Errorf("%s: %w", strings.Join(path, "."), err)
	}
	return Model{ID: id, Parameters: c.Parameters(path...)}, nil
}

// ResolveModel returns the model for a name: an alias or "provider/name".
func (c *Config) ResolveModel(name string) (ModelID, error) {
	return resolve(c.alias, quote(name), nil)
}

// alias returns the value of a short name.
func (c *Config) alias(name string) ([]byte, error) {
	for _, a := range c.aliases {
		if a.name == name {
			return nil, &trust.RefusedError{Claim: a.claim}
		}
	}
	return aliasIn(c.all, name), nil
}

// aliasIn returns the value of a short name in a configuration, nil if there is none.
func aliasIn(c settings.Config, name string) []byte {
	s, ok := c.Setting("providers", "llm", "aliases", name)
	if !ok {
		return nil
	}
	return s.Value()
}

// Speaker returns the model that one configuration names, as "provider/name": it answers in the
// turns under this configuration. It returns "" if there is none.
func Speaker(c settings.Config) string {
	s, ok := c.Setting("assistant", "model", "id")
	if !ok {
		return ""
	}
	id, err := resolve(func(name string) ([]byte, error) {
		return aliasIn(c, name), nil
	}, s.Value(), nil)
	if err != nil {
		return ""
	}
	return id.String()
}

// resolve follows aliases. Seen are those that led here.
func resolve(
	alias func(name string) ([]byte, error), raw []byte, seen []string,
) (ModelID, error) {
	var id ModelID
	if exact.Unmarshal(raw, &id) == nil {
		if id.Provider == "" || id.Name == "" {
			return ModelID{}, ErrNoModel
		}
		return id, nil
	}
	var name string
	if err := exact.Unmarshal(raw, &name); err != nil {
		return ModelID{}, fmt.Errorf("model %s: expected a name or a table", raw)
	}
	if slices.Contains(seen, name) {
		return ModelID{}, fmt.Errorf("model %q: %w", name, ErrAlias)
	}
	next, err := alias(name)
	switch {
	case err != nil:
		return ModelID{}, err
	case next != nil:
		return resolve(alias, next, append(seen, name))
	}
	provider, model, ok := strings.Cut(settings.ModelOfWord(name), "/")
	if !ok || provider == "" || model == "" {
		return ModelID{}, fmt.Errorf("model %q: %w", name, ErrModelName)
	}
	return ModelID{Provider: provider, Name: model}, nil
}

// Parameters returns the parameters of the model at a path, for whichever model.
func (c *Config) Parameters(path ...string) Parameters {
	at := func(key string) []string { return slices.Concat(path, []string{"parameters", key}) }
	var p Parameters
	c.read(&p.MaxTokens, at("max_tokens")...)
	c.read(&p.Temperature, at("temperature")...)
	c.read(&p.TopP, at("top_p")...)
	c.read(&p.TopK, at("top_k")...)
	c.read(&p.ServiceTier, at("service_tier")...)
	c.read(&p.Reasoning, at("reasoning")...)
	c.read(&p.StopWords, at("stop_words")...)
	c.read(&p.Other, at("other")...)
	delete(p.Other, "service_tier")
	return p
}
