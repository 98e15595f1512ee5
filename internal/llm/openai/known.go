package openai

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/wire"
)

// An effort is an amount of reasoning, by the provider's names.
type effort string

// A trait has the properties of a model that restrict requests to it.
type trait struct {
	reasons bool
	// off is the lowest effort of the model, which is used for no reasoning.
	off effort
	// least and most limit the efforts beside off that the model accepts.
	least, most effort
	// breakpoints says that the model caches up to breakpoints in the prompt, and reads its
	// reasoning of all turns.
	breakpoints bool
}

// traitOf returns the trait of a model by its name, from the provider's documentation as of
// November 2026. A newer GPT is treated as the newest one; a model with any other name as one that
// does not reason, which is sent less.
func traitOf(name string) trait {
	name = strings.TrimPrefix(name, "ft:")
	if version, rest, ok := gpt(name); ok {
		return gptTrait(version, rest)
	}
	reasoning := trait{reasons: true, off: "low", least: "low", most: "high"}
	for _, beginning := range []string{"o1", "o3", "o4", "codex-", "gpt-oss"} {
		if strings.HasPrefix(name, beginning) {
			return reasoning
		}
	}
	return trait{}
}

// gpt splits "gpt-5.6-sol" into 506 and "-sol".
func gpt(name string) (version int, rest string, ok bool) {
	name, ok = strings.CutPrefix(name, "gpt-")
	end := strings.IndexFunc(name, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if end < 0 {
		end = len(name)
	}
	major, minor, _ := strings.Cut(name[:end], ".")
	n, err := strconv.Atoi(major)
	minor = cmp.Or(minor, "0")
	k, errMinor := strconv.Atoi(minor)
	return n*100 + k, name[end:], ok && err == nil && errMinor == nil
}

func gptTrait(version int, rest string) trait {
	t := trait{reasons: true, off: "none", least: "low", most: "xhigh"}
	switch {
	case version < 500, strings.HasPrefix(rest, "-chat"):
		return trait{}
	case version == 500 && strings.HasPrefix(rest, "-codex"):
		t.off, t.most = "low", "high"
	case strings.HasPrefix(rest, "-pro"):
		t.off, t.least = "medium", "medium"
	case version == 500:
		t.off, t.least, t.most = "minimal", "minimal", "high"
	case version == 501 && !strings.Contains(rest, "max"):
		t.most = "high"
	case version >= 506:
		t.most, t.breakpoints = "max", true
	}
	if version == 500 && strings.HasPrefix(rest, "-pro") {
		t = trait{reasons: true, off: "high", least: "high", most: "high"}
	}
	return t
}

// efforts returns the provider's efforts, in rising order.
func efforts() []effort {
	return []effort{"minimal", "low", "medium", "high", "xhigh", "max"}
}

// nearest returns the supported effort that is closest to e.
func (t trait) nearest(e llm.Effort) effort {
	want := effort(e)
	switch e {
	case llm.EffortNone:
		return t.off
	case llm.EffortXLow:
		want = "minimal"
	}
	order := efforts()
	index := func(e effort) int {
		if i := slices.Index(order, e); i >= 0 {
			return i
		}
		return 2 // an unknown effort is medium
	}
	return order[min(max(index(want), index(t.least)), index(t.most))]
}

// nameRule is the provider's rule for names of tools and ids of calls.
func nameRule() wire.IDRule { return wire.WordRule(64) }
