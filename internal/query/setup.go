package query

import (
	"strconv"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/llm"
)

// A Setup holds the configured values of requests.
type Setup struct {
	Model  string   // id, "provider/name"; "" if not configured
	System []string // sections of the system prompt, in order
	Params llm.Params
	Choice llm.ToolChoice // for the first request of a turn
	Cache  llm.CachePolicy
	Author string
	// Speaker returns the model that a configuration of the conversation names, "" for none. If
	// nil, the models that wrote the answers are unknown.
	Speaker func(settings.Config) string
}

// SystemBytes returns the size of the system prompt.
func (s Setup) SystemBytes() (n int64) {
	for _, section := range s.System {
		n += int64(len(section))
	}
	return n
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

// ParseCache reads the setting assistant.request.cache: "off", "short", "long" or a duration.
func ParseCache(word string) llm.CachePolicy {
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

// ParseReasoning reads the setting assistant.model.parameters.reasoning: "off", "auto", an effort,
// or a number of tokens. Any other value leaves the choice to the provider.
func ParseReasoning(word string) llm.ReasoningParams {
	if tokens, err := strconv.Atoi(word); err == nil {
		return llm.ReasoningParams{Mode: llm.ReasoningBudget, Budget: tokens}
	}
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
