package compaction_test

import (
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/compaction"
)

// TestMarket holds when an entry of each lifetime is surely gone, and that models of which much has
// been recorded have a price.
func TestMarket(t *testing.T) {
	for _, id := range []string{
		"anthropic/claude-opus-4-5", "anthropic/claude-opus-4-6-20260205", "anthropic/claude-sonnet-4-5",
	} {
		short, long := compaction.Market(id, 0), compaction.Market(id, time.Hour)
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
	if free := compaction.Market("ollama/m", 0); free.Priced() || free.Longest != 0 {
		t.Errorf("nothing is known of %+v", free)
	}
}
