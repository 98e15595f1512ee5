package compact_test

import (
	"math"
	"slices"
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

// TestUsageOfNothing verifies that only the first request may have used nothing: it is the one whose
// prompt was measured.
func TestUsageOfNothing(t *testing.T) {
	none := compact.Usage{}
	one := none.After(compact.Usage{Input: 1})
	for _, u := range []compact.Usage{one, one.After(none), none.After(one)} {
		if got := slices.Collect(u.Exchanges()); len(got) != 2 || got[0] != none || got[1].Input != 1 {
			t.Errorf("%+v", got)
		}
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

// TestUsageIsPlausible verifies that no figure in a file makes a sum negative, or overflow it.
func TestUsageIsPlausible(t *testing.T) {
	const most = math.MaxInt64
	for _, u := range []compact.Usage{
		{Input: -1, Output: -most, CacheRead: -5, CacheWrite: 7, CacheWriteHour: -9, Reasoning: -2},
		{Input: most, Output: most, CacheRead: most, CacheWrite: most, CacheWriteHour: most},
		{CacheWrite: 1, CacheWriteHour: 2},
		{Output: 1, Reasoning: 2},
	} {
		u = u.After(u)
		e := events.NewElement(time.Unix(1, 0), &events.ChatResponse{Text: "a"}, compact.WithUsage(events.Metadata{}, u))
		got, ok := compact.UsageOf(e)
		for x := range got.Exchanges() {
			least := min(x.Input, x.Output, x.CacheRead, x.CacheWrite, x.CacheWriteHour, x.Reasoning)
			if !ok || least < 0 || x.CacheWriteHour > x.CacheWrite || x.Reasoning > x.Output || x.Prompt() > 1<<40 {
				t.Errorf("%+v gives %+v", u, x)
			}
		}
		if got.Total().Prompt() > 1<<41 {
			t.Errorf("%+v gives %+v", u, got.Total())
		}
	}
}
