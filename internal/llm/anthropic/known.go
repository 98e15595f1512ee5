package anthropic

import (
	"strings"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/wire"
)

// A trait has the properties of a model that restrict requests to it.
type trait struct {
	window, output int
	think          thinking
	efforts        string // the highest effort that it accepts: "", "max" or "xhigh" (and max)
	noSampling     bool   // it refuses temperature and the like
	alwaysThinks   bool   // it refuses to turn thinking off
	guessed        bool   // the name is unknown
}

// thinking is how the thinking of a model is configured.
type thinking int

const (
	thinksNever thinking = iota
	thinksByBudget
	thinksByBoth
	thinksAdaptively
)

// traitOf returns the trait of a model by the longest known prefix of its name. The figures are
// from the provider's list of models as of July 2026 and, for models that are no longer listed,
// from its documentation. An unknown name is treated as a newer model.
func traitOf(name string) trait {
	const k = 1000
	oldThinker := trait{window: 200 * k, output: 64 * k, think: thinksByBudget}
	small := trait{window: 200 * k, output: 8192}
	both := trait{window: k * k, output: 128 * k, think: thinksByBoth, efforts: "max"}
	newest := trait{
		window: k * k, output: 128 * k, think: thinksAdaptively, efforts: "xhigh", noSampling: true,
	}
	thinker := newest
	thinker.alwaysThinks = true
	known := map[string]trait{
		"claude-3-":         small,
		"claude-3-opus":     {window: 200 * k, output: 4096},
		"claude-3-haiku":    {window: 200 * k, output: 4096},
		"claude-3-7-":       oldThinker,
		"claude-sonnet-4":   oldThinker,
		"claude-opus-4":     {window: 200 * k, output: 32 * k, think: thinksByBudget},
		"claude-haiku-4":    oldThinker,
		"claude-opus-4-5":   oldThinker,
		"claude-opus-4-6":   both,
		"claude-sonnet-4-6": both,
		"claude-opus-4-7":   newest,
		"claude-opus-4-8":   newest,
		"claude-opus-5":     newest,
		"claude-sonnet-5":   newest,
		"claude-fable-":     thinker,
	}
	best, found := "", newest
	found.guessed = true
	for beginning, t := range known {
		if len(beginning) > len(best) && strings.HasPrefix(name, beginning) {
			best, found = beginning, t
		}
	}
	return found
}

// family returns the part of an id that signatures are bound to: the name without a release date.
func family(id string) string {
	_, name, _ := llm.SplitID(id)
	if i := strings.LastIndexByte(name, '-'); i > 0 && len(name)-i == len("-20250929") {
		return name[:i]
	}
	return strings.TrimSuffix(name, "-latest")
}

func nameRule() wire.IDRule { return wire.WordRule(64) }
