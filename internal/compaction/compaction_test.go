package compaction_test

import (
	"testing"
	"time"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/compaction"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/models"
)

// TestMarket checks when an entry of each lifetime has certainly expired, and that models with many
// recordings have a price.
func TestMarket(t *testing.T) {
	for _, id := range []string{
		"anthropic/claude-opus-4-5", "anthropic/claude-opus-4-6-20260205", "anthropic/claude-sonnet-4-5",
	} {
		short, long := compaction.Market(known(t), id, llm.CachePolicy{}), compaction.Market(known(t), id, llm.CachePolicy{TTL: time.Hour})
		if !short.Priced() || short.AsOf == "" {
			t.Errorf("%s has no price: %+v", id, short)
		}
		if short.TTL != 5*time.Minute || short.Gone != 6*time.Minute || short.Longest != 65*time.Minute {
			t.Errorf("%s: %+v", id, short)
		}
		if long.TTL != time.Hour || long.Gone != 65*time.Minute || long.Longest != long.Gone || long.Write <= short.Write {
			t.Errorf("%s, for an hour: %+v", id, long)
		}
	}
	if free := compaction.Market(known(t), "ollama/m", llm.CachePolicy{}); free.Priced() || free.Longest != 0 {
		t.Errorf("nothing is known of %+v", free)
	}
}

// TestWhoKeepsNothingIsTrimmedAtOnce checks that superseded results are trimmed at once if no
// prompt is cached, since it is read in full each time.
func TestWhoKeepsNothingIsTrimmedAtOnce(t *testing.T) {
	for _, tt := range []struct {
		id   string
		off  bool
		want bool
	}{
		{"anthropic/claude-opus-5", false, false},
		{"anthropic/claude-opus-5", true, true},
		{"openai/gpt-5", true, false}, // caches prompts in any case
		{"cerebras/gpt-oss-120b", false, true},
		{"ollama/m", false, false}, // costs nothing
	} {
		m := compaction.Market(known(t), tt.id, llm.CachePolicy{Off: tt.off})
		p := compact.Pending{Tokens: 1000, Tail: 50_000, Prompt: 60_000}
		if got, why := compact.Cold.Decide(p, m); got != tt.want {
			t.Errorf("%s, off %t: trimmed %t, since %s", tt.id, tt.off, got, why)
		}
	}
}

func known(t *testing.T) *models.Table {
	t.Helper()
	table, err := models.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestLastPrompt verifies that usage of requests without an answer is not taken for a prompt.
func TestLastPrompt(t *testing.T) {
	used := func(ev events.Event, u compact.Usage) *events.Element {
		return events.NewElement(time.Time{}, ev, compact.WithUsage(events.Metadata{}, u))
	}
	s := events.New(used(&events.ChatResponse{Text: "a"}, compact.Usage{Input: 10, Output: 2}),
		used(&events.ChatRequest{Content: "q"}, compact.Usage{Earlier: &compact.Usage{Input: 20}}))
	if n := compaction.LastPrompt(s); n != 12 {
		t.Errorf("the last prompt has %d tokens", n)
	}
}
