package compact_test

import (
	"testing"

	"github.com/git-jp/git-jp/compact"
)

// TestUsageTotal verifies that every member counts, with those of all earlier requests.
func TestUsageTotal(t *testing.T) {
	u := func(n int64) compact.Usage {
		return compact.Usage{
			Input: n, Output: 2 * n, CacheRead: 3 * n, CacheWrite: 4 * n, CacheWriteHour: 5 * n,
			Reasoning: 6 * n, Model: "m",
		}
	}
	x := compact.Usage{}.After(u(1)).After(compact.Usage{}.After(u(10)))
	if got := x.Total(); got != u(11) || x.Prompt() != 0 {
		t.Errorf("got %+v", got)
	}
}
