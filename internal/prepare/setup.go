package prepare

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/go-json-experiment/json/jsontext"
)

// setupOf returns the configured values of requests. It is no error if no model is configured.
func setupOf(c *jpconfig.Config) (query.Setup, error) {
	s := query.Setup{
		System: c.System(), Choice: query.ParseChoice(c.ToolChoice()),
		Cache: query.ParseCache(c.Cache()), Author: c.Author(), Speaker: jpconfig.Speaker,
	}
	m, err := c.Model()
	if err != nil && !errors.Is(err, jpconfig.ErrNoModel) {
		return s, fmt.Errorf("read the configuration: %w", err)
	}
	if !m.ID.IsZero() {
		s.Model = m.ID.String()
	}
	s.Params = paramsOf(c.Parameters("assistant", "model"))
	return s, nil
}

func paramsOf(p jpconfig.Parameters) llm.Params {
	out := llm.Params{
		Temperature: p.Temperature, TopP: p.TopP, Stop: p.StopWords,
		Reasoning: query.ParseReasoning(p.Reasoning.Effort),
	}
	out.Reasoning.Exclude = p.Reasoning.Exclude
	if p.MaxTokens != nil {
		out.MaxTokens = int(*p.MaxTokens)
	}
	if p.TopK != nil {
		k := int(*p.TopK)
		out.TopK = &k
	}
	out.Services = servicesOf(p.Other)
	for name, v := range p.Other {
		if isService(name) {
			continue
		}
		if out.Other == nil {
			out.Other = map[string]jsontext.Value{}
		}
		out.Other[name] = jsontext.Value(v)
	}
	return out
}

// isService reports whether a parameter is one of git jp's for a service of the provider.
func isService(name string) bool {
	return name == "web_search" || name == "strict_tools" || name == "context_management"
}

// servicesOf returns the requested services of the provider. A search without options is "true".
func servicesOf(given map[string]json.RawMessage) (s llm.Services) {
	s.WebSearch = jsontext.Value(given["web_search"])
	s.Context = jsontext.Value(given["context_management"])
	if string(s.WebSearch) == "true" {
		s.WebSearch = jsontext.Value("{}")
	}
	if exact.Unmarshal(given["strict_tools"], &s.Strict) != nil {
		s.Strict = nil
	}
	return s
}
