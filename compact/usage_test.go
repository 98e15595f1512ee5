package compact_test

import (
	"testing"
	"time"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
)

// TestUsageExchanges verifies that the requests stay apart, as deep as jp can load, and that none is
// lost beyond.
func TestUsageExchanges(t *testing.T) {
	u := compact.Usage{Input: 1}
	for n := range int64(1000) {
		u = u.After(compact.Usage{Input: n})
	}
	var sum, n int64
	for x := range u.Exchanges() {
		if n++; x.Earlier != nil {
			t.Error("a request has others")
		}
		sum += x.Input
	}
	if sum != 1+999*1000/2 || n < 10 || n > 100 {
		t.Errorf("%d tokens in %d requests", sum, n)
	}
	ev := events.NewElement(time.Unix(1, 0), &events.ChatResponse{Text: "a"}, compact.WithUsage(events.Metadata{}, u))
	if err := ev.Loadable(); err != nil {
		t.Error(err)
	}
}

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
