package compaction

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/models"
	"github.com/go-json-experiment/json/jsontext"
)

// Settings are git jp's settings for compactions.
type Settings struct{ *config.Config }

// Dedup returns the options of deduplication.
func (s Settings) Dedup() dedup.Options {
	d := s.Settings().Deduplication
	return dedup.Options{
		Enabled: d.Enabled, MinBytes: d.MinBytes, Lookback: d.LookbackTurns, Lines: d.Lines,
		Tool: func(name string) bool { return s.Tool(name).Deduplicate },
	}
}

// Hint returns the hint of a tool: the configured values, over the built-in ones.
func (s Settings) Hint(name string) compact.Hint {
	h, set := compact.DefaultHint(s.like(name)), s.Tool(name).Compaction
	if set.Response != "" {
		h.Response = compact.Response(set.Response)
	}
	if rule, ok := set.Subsumes.Value(); ok {
		h.Subsumes, h.Dedup = rule, h.Dedup || rule != "none"
	}
	if set.Dedup != nil {
		h.Dedup, h.Alike = *set.Dedup, false
	}
	return h
}

// Rules returns the rules by which results of a tool are superseded.
func (s Settings) Rules(name string) []dedup.Rule {
	rule, ok := s.Tool(name).Compaction.Subsumes.Value()
	like := s.like(name)
	rules := compact.DefaultRules(like)
	if ok && rule != "tool" {
		r, known := dedup.Rules()[rule]
		if !known {
			return nil
		}
		rules = []dedup.Rule{r}
	}
	if like == name {
		return rules
	}
	for i, r := range rules {
		rules[i] = r.As(like)
	}
	return rules
}

// like returns the tool that another one is treated as, if the user set one.
func (s Settings) like(name string) string {
	if other, ok := s.Tool(name).Compaction.Like.Value(); ok {
		return other
	}
	return name
}

// Limits returns the limits below which superseded results are kept.
func (s Settings) Limits() compact.Limits {
	t := s.Settings().Trim
	return compact.Limits{
		MinBytes: t.MinBytes, MinTurns: t.MinTurns, MinDelta: t.MinDelta, CacheTurns: t.CacheTurns,
	}
}

// Market returns the market of a model whose prompts are cached by a policy. Without caching,
// Anthropic keeps no prompt; other providers cache by themselves.
func Market(table *models.Table, id string, policy llm.CachePolicy) compact.Market {
	m := compact.Market{Model: id}
	row, ok := table.Find(id)
	if !ok {
		return m
	}
	p := row.Of(0)
	m.Input, m.Read, m.Write = p.Input, p.Read, p.Write
	m.TTL, m.Gone = time.Duration(row.Cache.TTL), time.Duration(row.Cache.Gone)
	m.Minimum, m.Grain = int64(row.Cache.Minimum), int64(row.Cache.Grain)
	if long := time.Duration(row.Cache.TTLLong); policy.TTL >= time.Hour && long > 0 {
		m.Write, m.TTL = p.WriteLong, long
		m.Gone = max(m.Gone, long, time.Duration(row.Cache.GoneLong))
	}
	m.Longest = max(m.Gone, time.Duration(row.Cache.GoneLong))
	m.AsOf = row.AsOf.String()
	if provider, _, _ := llm.SplitID(id); policy.Off && provider == "anthropic" {
		m.Read, m.Write = m.Input, m.Input
	}
	return m
}

// Window returns the maximum tokens of a request to a model, 0 if unknown: the window that its
// provider offers, else that of the table, or the account's limit in the user's settings if that is
// less.
func (s Settings) Window(table *models.Table, id string, offered int64) int64 {
	window, most := offered, s.Settings().Compaction.Window
	if window == 0 {
		row, _ := table.Find(id)
		window = int64(row.Window)
	}
	if window > 0 && (most == 0 || window < most) {
		return window
	}
	return most
}

// AsksModel reports whether a pipeline may ask a model.
func AsksModel(strategies []string) bool {
	return slices.ContainsFunc(strategies, func(s string) bool {
		return s == compact.Auto || s == compact.Summarize || s == compact.ClassifyTangents
	})
}

// Cheapest returns the model of the same provider with the lowest price of input.
func Cheapest(table *models.Table, id string) string {
	own, _ := table.Find(id)
	provider, _, _ := llm.SplitID(id)
	best, price := id, own.Price.Input // 0 if unknown: then any known price is lower
	for _, r := range table.Rows() {
		p, _, _ := llm.SplitID(r.ID)
		if p == provider && r.Price.Input > 0 && (price == 0 || r.Price.Input < price) {
			best, price = r.ID, r.Price.Input
		}
	}
	return best
}

// LastPrompt returns the size of the last prompt with its answer.
func LastPrompt(s *events.Stream) int64 {
	for i := s.Len() - 1; i >= 0; i-- {
		if u, ok := compact.UsageOf(s.At(i)); ok && u.Prompt() > 0 {
			return u.Prompt() + u.Output
		}
	}
	return 0
}

// Policies returns jp's rules of the overlay, or jp's default if there are none.
func Policies(c *jpconfig.Config) []compact.Policy {
	var rules []struct {
		KeepFirst *int           `json:"keep_first"`
		KeepLast  *int           `json:"keep_last"`
		Reasoning string         `json:"reasoning"`
		ToolCalls jsontext.Value `json:"tool_calls"`
		Summary   jsontext.Value `json:"summary"`
	}
	if !c.Decode(&rules, "conversation", "compaction", "rules") || len(rules) == 0 {
		return []compact.Policy{compact.DefaultPolicy()}
	}
	var all []compact.Policy
	for _, r := range rules {
		p := compact.Policy{Reasoning: r.Reasoning == "strip", Summarize: len(r.Summary) > 0}
		var word string
		if json.Unmarshal(r.ToolCalls, &word) == nil {
			if tools, err := compact.ParseTools(word); err == nil {
				p.Tools = tools
			}
		}
		p.From, p.To = compact.Spared(orOne(r.KeepFirst), orOne(r.KeepLast))
		all = append(all, p)
	}
	return all
}

func orOne(n *int) int {
	if n == nil {
		return 1
	}
	return *n
}
