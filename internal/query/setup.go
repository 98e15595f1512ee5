package query

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/go-json-experiment/json/jsontext"
)

// A Config is where settings are read: what holds at a path, as json.Unmarshal does it.
// *jpconfig.Config is one.
type Config interface {
	Decode(v any, path ...string) bool
}

// A Setup is what configuration says about requests.
type Setup struct {
	Model  string   // id, "provider/name"; "" when nobody chose one
	System []string // sections of the system prompt, in order
	Params llm.Params
	Choice llm.ToolChoice // for the first request of a turn
	Cache  llm.CachePolicy
	Author string
}

// ReadSetup reads a setup.
func ReadSetup(c Config) Setup {
	s := Setup{System: system(c), Choice: choice(c), Cache: cache(c)}
	var id jsontext.Value
	if c.Decode(&id, "assistant", "model", "id") {
		s.Model = ModelID(id, Aliases(c))
	}
	s.Params = params(c)
	c.Decode(&s.Author, "user", "name")
	return s
}

// Aliases returns the short names of models, each with the value that stands for it.
func Aliases(c Config) map[string]jsontext.Value {
	var all map[string]jsontext.Value
	c.Decode(&all, "providers", "llm", "aliases")
	return all
}

// ModelID reads the id of a model, which is "provider/name", an object with both, or an
// alias, also of an alias. What is none of these is "".
func ModelID(v jsontext.Value, aliases map[string]jsontext.Value) string {
	for range len(aliases) + 1 {
		var id struct{ Provider, Name string }
		var text string
		switch {
		case json.Unmarshal(v, &text) == nil:
			if next, ok := aliases[text]; ok {
				v = next
				continue
			}
			if _, _, ok := llm.SplitID(text); ok {
				return text
			}
			return ""
		case json.Unmarshal(v, &id) == nil && id.Provider != "" && id.Name != "":
			return id.Provider + "/" + id.Name
		default:
			return ""
		}
	}
	return "" // aliases of each other
}

func choice(c Config) llm.ToolChoice {
	var word string
	c.Decode(&word, "assistant", "tool_choice")
	return ParseChoice(word)
}

// ParseChoice reads the setting assistant.tool_choice: "auto", "none", "required" or the name
// of a tool.
func ParseChoice(word string) llm.ToolChoice {
	switch word {
	case "", "auto", "true":
		return llm.ToolChoice{}
	case "none", "false":
		return llm.ToolChoice{Mode: llm.ChoiceNone}
	case "required":
		return llm.ToolChoice{Mode: llm.ChoiceRequired}
	default:
		return llm.ToolChoice{Mode: llm.ChoiceTool, Name: word}
	}
}

// cache reads assistant.request.cache: "off", "short", "long", a duration, or a switch.
func cache(c Config) llm.CachePolicy {
	var on bool
	if c.Decode(&on, "assistant", "request", "cache") {
		return llm.CachePolicy{Off: !on}
	}
	var word string
	c.Decode(&word, "assistant", "request", "cache")
	switch word {
	case "off":
		return llm.CachePolicy{Off: true}
	case "long":
		return llm.CachePolicy{TTL: time.Hour}
	}
	ttl, err := time.ParseDuration(word)
	if err != nil {
		ttl = 0
	}
	return llm.CachePolicy{TTL: ttl}
}

func params(c Config) llm.Params {
	at := func(key string) []string { return []string{"assistant", "model", "parameters", key} }
	var p llm.Params
	c.Decode(&p.MaxTokens, at("max_tokens")...)
	c.Decode(&p.Temperature, at("temperature")...)
	c.Decode(&p.TopP, at("top_p")...)
	c.Decode(&p.TopK, at("top_k")...)
	c.Decode(&p.Stop, at("stop_words")...)
	c.Decode(&p.Other, at("other")...)
	var r jsontext.Value
	if c.Decode(&r, at("reasoning")...) {
		p.Reasoning = Reasoning(r)
	}
	return p
}

// Reasoning reads the setting assistant.model.parameters.reasoning: "off", "auto", an effort
// or a number of tokens, or an object with effort or max_tokens and exclude.
func Reasoning(v jsontext.Value) llm.ReasoningParams {
	var word string
	var tokens int
	var table struct {
		Effort    jsontext.Value `json:"effort"`
		MaxTokens int            `json:"max_tokens"`
		Exclude   bool           `json:"exclude"`
	}
	switch {
	case json.Unmarshal(v, &tokens) == nil:
		return llm.ReasoningParams{Mode: llm.ReasoningBudget, Budget: tokens}
	case json.Unmarshal(v, &word) == nil:
		return reasoningWord(word)
	case json.Unmarshal(v, &table) != nil:
		return llm.ReasoningParams{}
	}
	r := llm.ReasoningParams{Mode: llm.ReasoningAuto}
	if table.Effort != nil {
		r = Reasoning(table.Effort)
	} else if table.MaxTokens > 0 {
		r = llm.ReasoningParams{Mode: llm.ReasoningBudget, Budget: table.MaxTokens}
	}
	r.Exclude = table.Exclude
	return r
}

func reasoningWord(word string) llm.ReasoningParams {
	switch e := llm.Effort(strings.ToLower(word)); e {
	case "off":
		return llm.ReasoningParams{Mode: llm.ReasoningOff}
	case "auto":
		return llm.ReasoningParams{Mode: llm.ReasoningAuto}
	case llm.EffortNone, llm.EffortXLow, llm.EffortLow, llm.EffortMedium, llm.EffortHigh,
		llm.EffortXHigh, llm.EffortMax:
		return llm.ReasoningParams{Mode: llm.ReasoningEffort, Effort: e}
	default:
		return llm.ReasoningParams{}
	}
}
