package gemini

import (
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/wire"
)

// A trait has the properties of a model that restrict requests to it.
type trait struct {
	// levels says that thinking is set by a level; else, if most > 0, by a number of tokens.
	levels bool
	// off and most are the smallest and the largest number of thinking tokens.
	off, most int
	// minimal and medium are levels that not every model accepts.
	minimal, medium bool
	// signed says that calls of the current turn need their signatures.
	signed bool
}

// traitOf returns the trait of a model by its name, from the provider's documentation as of
// November 2026. A newer Gemini is treated as the newest one; a model with any other name as one
// that does not think.
func traitOf(name string) trait {
	rest, ok := strings.CutPrefix(name, "gemini-")
	if !ok {
		return trait{}
	}
	version, kind, _ := strings.Cut(rest, "-")
	n, err := strconv.ParseFloat(version, 64)
	if err != nil { // an alias such as gemini-flash-latest is the newest
		n, kind = newest, rest
	}
	flash, lite := strings.Contains(kind, "flash"), strings.Contains(kind, "lite")
	switch {
	case n >= 3:
		return trait{
			levels: true, signed: true, minimal: lite || flash && n < 3.7, medium: flash || n > 3,
		}
	case n >= 2.5 && flash:
		return trait{most: 24576}
	case n >= 2.5:
		return trait{off: 128, most: 32768}
	default:
		return trait{}
	}
}

// newest is the version of an alias.
const newest = 99

// thinks reports whether the model can think at all.
func (t trait) thinks() bool { return t.levels || t.most > 0 }

// A thinkingConfig is how much a model thinks, on the wire.
type thinkingConfig struct {
	Include bool   `json:"includeThoughts,omitempty"`
	Budget  *int   `json:"thinkingBudget,omitempty"`
	Level   string `json:"thinkingLevel,omitempty"`
}

func number(n int) *int { return &n }

// thinking returns how much the model thinks; nil leaves that to the provider.
func (t trait) thinking(r llm.ReasoningParams) *thinkingConfig {
	if !t.thinks() {
		return nil
	}
	off := r.Off()
	c := &thinkingConfig{Include: !r.Exclude && !off}
	switch {
	case t.levels:
		c.Level = t.level(r, off)
	case off:
		c.Budget = number(t.off)
	case r.Mode == llm.ReasoningAuto:
		c.Budget = number(-1)
	case r.Mode == llm.ReasoningBudget:
		c.Budget = number(min(max(r.Budget, t.off), t.most))
	case r.Mode == llm.ReasoningEffort:
		c.Budget = number(max(t.most*share(r.Effort)/100, t.off))
	}
	return c
}

// share returns the percentage of the maximum for an effort, as in jp.
func share(e llm.Effort) int {
	switch e {
	case llm.EffortXLow:
		return 10
	case llm.EffortLow:
		return 20
	case llm.EffortHigh:
		return 80
	case llm.EffortXHigh:
		return 90
	case llm.EffortMax:
		return 100
	default:
		return 50
	}
}

func (t trait) level(r llm.ReasoningParams, off bool) string {
	least, middle := "LOW", "HIGH"
	if t.minimal {
		least = "MINIMAL"
	}
	if t.medium {
		middle = "MEDIUM"
	}
	switch level := r.Level(); {
	case off, r.Mode == llm.ReasoningEffort && r.Effort == llm.EffortXLow:
		return least
	case level == llm.EffortLow:
		return "LOW"
	case level == llm.EffortMedium:
		return middle
	case level == llm.EffortHigh:
		return "HIGH"
	default:
		return ""
	}
}

// nameRule is the provider's rule for names of tools.
func nameRule() wire.IDRule {
	word := wire.WordRule(64)
	return wire.IDRule{Max: word.Max, Allowed: func(c byte) bool {
		return c == '.' || c == ':' || word.Allowed(c)
	}}
}
