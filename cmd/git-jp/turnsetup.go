package main

import (
	"errors"
	"fmt"

	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/go-json-experiment/json/jsontext"
)

// setupOf returns what the configuration says about requests. It is no error that nobody
// chose a model.
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
	for name, v := range p.Other {
		if out.Other == nil {
			out.Other = map[string]jsontext.Value{}
		}
		out.Other[name] = jsontext.Value(v)
	}
	return out
}
