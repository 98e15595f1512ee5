package openai

import (
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/wire"
)

// An effort is how much a model reasons, in the provider's words.
type effort string

// A trait is what is particular to a model and changes what may be sent to it.
type trait struct {
	reasons bool
	// off is the least a model can reason: the effort that stands for none.
	off effort
	// least and most bound the efforts beside off that the model takes.
	least, most effort
	// breakpoints: the model caches up to marks in the prompt, and reads what it thought in
	// all turns.
	breakpoints bool
}

// traitOf tells a model by its name, from the provider's documentation as of November 2026. A
// GPT newer than those is taken for the newest; any other name for a model that does not
// reason, which is sent less.
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

// gpt cuts "gpt-5.6-sol" into 506 and "-sol".
func gpt(name string) (version int, rest string, ok bool) {
	name, ok = strings.CutPrefix(name, "gpt-")
	end := strings.IndexFunc(name, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if end < 0 {
		end = len(name)
	}
	major, minor, _ := strings.Cut(name[:end], ".")
	n, err := strconv.Atoi(major)
	if minor == "" {
		minor = "0"
	}
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

// efforts are the provider's, in rising order.
func efforts() []effort {
	return []effort{"minimal", "low", "medium", "high", "xhigh", "max"}
}

// nearest returns what comes closest to the effort that is asked for.
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
		for i, x := range order {
			if x == e {
				return i
			}
		}
		return 2 // an effort that is not known is medium
	}
	return order[min(max(index(want), index(t.least)), index(t.most))]
}

// budget returns the effort that stands for a number of tokens to think with.
func (t trait) budget(tokens int) effort {
	switch {
	case tokens <= 0:
		return t.off
	case tokens < 4096:
		return t.nearest(llm.EffortLow)
	case tokens < 16384:
		return t.nearest(llm.EffortMedium)
	default:
		return t.nearest(llm.EffortHigh)
	}
}

// nameRule says which names of tools and ids of calls the provider takes.
func nameRule() wire.IDRule { return wire.WordRule(64) }
