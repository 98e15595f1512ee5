package compact_test

import (
	"fmt"
	"maps"
	"math"
	"testing"
	"time"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"pgregory.net/rapid"
)

// markets draws prices and promises of all kinds, known or not.
func markets() *rapid.Generator[compact.Market] {
	return rapid.Custom(func(t *rapid.T) compact.Market {
		in := rapid.SampledFrom([]float64{0, 1, 3}).Draw(t, "input")
		ttl := time.Duration(rapid.IntRange(1, 60).Draw(t, "ttl")) * time.Minute
		return compact.Market{
			Input: in,
			Read:  in * rapid.SampledFrom([]float64{0.008, 0.1, 0.25, 0.5, 1}).Draw(t, "read"),
			Write: in * rapid.SampledFrom([]float64{0, 1, 1.25, 2}).Draw(t, "write"),
			TTL:   ttl,
			Gone: rapid.SampledFrom([]time.Duration{0, ttl, 2 * ttl, 24 * time.Hour}).
				Draw(t, "gone"),
			Minimum: rapid.SampledFrom([]int64{0, 1024, 4096}).Draw(t, "minimum"),
			Grain:   rapid.SampledFrom([]int64{0, 128}).Draw(t, "grain"),
		}
	})
}

// provider draws an actual behavior within the promises of the market: entries live at least as
// long as guaranteed and at most until they are certainly evicted; without a promise anything is
// possible.
func provider(t *rapid.T, m compact.Market) compact.Provider {
	longest := m.Gone
	if longest == 0 {
		longest = 1000 * time.Hour
	}
	p := compact.Provider{Minimum: float64(m.Minimum), Grain: float64(m.Grain)}
	span := int64(longest - m.TTL)
	p.TTL = m.TTL + time.Duration(rapid.Int64Range(0, max(span, 0)).Draw(t, "true ttl"))
	if m.Minimum == 0 {
		p.Minimum = rapid.SampledFrom([]float64{0, 512, 4096}).Draw(t, "true minimum")
	}
	return p
}

// histories draws conversations: sizes, requests at any times, and what becomes obsolete when.
func histories() *rapid.Generator[compact.History] {
	return rapid.Custom(func(t *rapid.T) compact.History {
		h := compact.History{Base: float64(rapid.IntRange(0, 8000).Draw(t, "base"))}
		at := second(0)
		n := rapid.IntRange(1, 40).Draw(t, "elements")
		for i := range n {
			h.Sizes = append(h.Sizes, float64(rapid.IntRange(0, 5000).Draw(t, "size")))
			if rapid.IntRange(0, 2).Draw(t, "sent") == 0 {
				at = at.Add(time.Duration(rapid.IntRange(1, 10_000).Draw(t, "pause")) * time.Second)
				h.Exchanges = append(h.Exchanges, compact.Exchange{At: at, Upto: i + 1})
			}
			if by := rapid.IntRange(i+1, n+3).Draw(t, "obsolete by"); by < n {
				gone := rapid.Float64Range(0, h.Sizes[i]).Draw(t, "gone")
				h.Trims = append(h.Trims, compact.Trim{Element: i, By: by, Tokens: gone})
			}
		}
		return h
	})
}

// overBound checks that no schedule sends or costs less than the bound, if nothing becomes smaller
// because other content is sent again.
func overBound(t *rapid.T, h compact.History, m compact.Market, p compact.Provider) {
	bound := compact.Bound(h, m, p)
	if restored := h.Restored; restored != nil {
		h.Restored = func(gone []int) map[int]float64 {
			more := maps.Clone(restored(gone))
			maps.DeleteFunc(more, func(_ int, tokens float64) bool { return tokens < 0 })
			return more
		}
	}
	for _, s := range compact.Schedules() {
		c := compact.Replay(h, s, m, p)
		if bound.Sent > c.Sent*(1+1e-9) || bound.Units > c.Units*(1+1e-9) {
			t.Fatalf("the bound is %+v, %s %+v\n%+v\n%+v", bound, s, c, m, p)
		}
	}
}

// TestTheDefaultNeverCosts checks the promise to users: whatever the conversation, the prices and
// the times, with the schedule cold the input costs no more than if nothing is done.
func TestTheDefaultNeverCosts(t *testing.T) {
	trimmed := 0
	rapid.Check(t, func(t *rapid.T) {
		h, m := histories().Draw(t, "history"), markets().Draw(t, "market")
		p := provider(t, m)
		nothing := compact.Replay(h, compact.Never, m, p)
		cold := compact.Replay(h, compact.Cold, m, p)
		trimmed += cold.Trimmed
		if cold.Units > nothing.Units*(1+1e-9) {
			t.Fatalf("cold costs %f, nothing %f\n%+v\n%+v\n%+v", cold.Units, nothing.Units, h, m, p)
		}
		overBound(t, h, m, p)
	})
	if trimmed == 0 {
		t.Error("nothing was ever trimmed")
	}
}

// TestBalancedIsBounded checks that waiting until carrying has cost as much as rewriting would
// bounds the extra cost of one batch by the cost of carrying.
func TestBalancedIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, m := histories().Draw(t, "history"), markets().Draw(t, "market")
		if len(h.Trims) > 1 {
			h.Trims = h.Trims[:1]
		}
		p := m.Promised()
		nothing := compact.Replay(h, compact.Never, m, p)
		balanced := compact.Replay(h, compact.Balanced, m, p)
		carried := 0.0
		if m.Priced() && len(h.Trims) > 0 {
			carried = m.Read / m.Input * h.Trims[0].Tokens * float64(len(h.Exchanges))
			carried += float64(m.Grain) * float64(len(h.Exchanges))
			carried += 2 * float64(max(m.Minimum, 4096)) * float64(len(h.Exchanges))
		}
		if balanced.Units > nothing.Units+carried+1e-6 {
			t.Fatalf("balanced costs %f, nothing %f, carried %f", balanced.Units, nothing.Units, carried)
		}
	})
}

// TestSchedules checks the decision of each schedule about one pending trim.
func TestSchedules(t *testing.T) {
	m := market()
	small, big := compact.Pending{Tokens: 100, Tail: 1000, Prompt: 1500}, compact.Pending{
		Tokens: 5000, Tail: 20000, Prompt: 50000,
	}
	with := func(p compact.Pending, change func(*compact.Pending)) compact.Pending {
		change(&p)
		return p
	}
	coldly := func(p *compact.Pending) { p.Cold = true }
	for _, test := range []struct {
		schedule compact.Schedule
		p        compact.Pending
		m        compact.Market
		want     bool
	}{
		{compact.Never, with(big, coldly), m, false},
		{compact.Never, with(big, func(p *compact.Pending) { p.Window = 40000 }), m, true},
		{compact.Cold, big, m, false},
		{compact.Cold, with(big, coldly), m, true},
		{compact.Cold, with(small, coldly), m, false}, // it would be too short to be cached
		{compact.Cold, with(big, coldly), compact.Market{}, false},
		{compact.Cold, with(big, func(p *compact.Pending) { p.Window = 40000 }), m, true},
		{compact.Balanced, big, m, false},
		{compact.Balanced, with(big, func(p *compact.Pending) { p.Carried = 172_000 }), m, false},
		{compact.Balanced, with(big, func(p *compact.Pending) { p.Carried = 173_000 }), m, true},
		{compact.Balanced, with(big, func(p *compact.Pending) { p.Carried, p.Sent = 173_000, 1_570_000 }), m, false},
		{compact.Balanced, with(big, func(p *compact.Pending) { p.Carried, p.Sent = 173_000, 1_590_000 }), m, true},
		{compact.Cold, big, compact.Market{Input: 1, Read: 1, Write: 1}, true}, // nothing is cached
		{compact.Eager, small, m, true},
		{compact.Eager, compact.Pending{}, m, false},
	} {
		got, why := test.schedule.Decide(test.p, test.m)
		if got != test.want || why == "" {
			t.Errorf("%s of %+v: %t because %q, want %t", test.schedule, test.p, got, why, test.want)
		}
	}
}

// TestBreakEven checks the figures of the published table: one tenth of the tail.
func TestBreakEven(t *testing.T) {
	for name, test := range map[string]struct {
		read, write, want float64
	}{
		"Anthropic, 5 minutes": {0.1, 1.25, 103.5},
		"Anthropic, 1 hour":    {0.1, 2, 171},
		"OpenAI 5.x":           {0.1, 1, 81},
		"OpenAI 4.1":           {0.25, 1, 27},
		"Groq":                 {0.5, 1, 9},
		"no cache":             {1, 1, 0},
	} {
		m := compact.Market{Input: 1, Read: test.read, Write: test.write}
		money := m.Rewrite(1000, 10000, false)
		if got := *money.BreakEven; math.Abs(got-test.want) > 0.01 {
			t.Errorf("%s: %f calls, want %f", name, got, test.want)
		}
		if cold := m.Rewrite(1000, 10000, true); *cold.BreakEven != 0 || *cold.Now <= 0 {
			t.Errorf("%s, cold: %v", name, cold)
		}
	}
	if money := (compact.Market{}).Rewrite(1, 2, true); money.Now != nil {
		t.Errorf("prices that nobody knows: %v", money)
	}
}

// sentStream returns a conversation whose requests are recorded, a minute apart unless they have a
// time.
func sentStream(sent ...*compact.Sent) *events.Stream {
	k := new(talk)
	for n, s := range sent {
		at := second(0).Add(time.Duration(n) * time.Minute)
		md := events.Metadata{}
		if s != nil {
			if s.At.IsZero() {
				s.At = at
			}
			md = compact.WithSent(md, *s)
		}
		k.elems = append(k.elems,
			events.NewElement(at, &events.TurnStart{}, events.Metadata{}),
			events.NewElement(at, &events.ChatRequest{Content: "q"}, events.Metadata{}),
			events.NewElement(at, &events.ChatResponse{Text: "part"}, events.Metadata{}),
			events.NewElement(at, &events.ChatResponse{Text: "m"}, md))
	}
	return k.stream()
}

func TestIsCold(t *testing.T) {
	a := compact.Sent{Model: "a", Prefix: "p", Tools: "t"}
	b := compact.Sent{Model: "b", Prefix: "p", Tools: "t"}
	tools := compact.Sent{Model: "a", Prefix: "p", Tools: "u"}
	short, hour := a, a
	short.Lifetime, hour.Lifetime = 300, 3600
	long := market()
	long.Gone, long.Longest = 6*time.Minute, 65*time.Minute
	early, late := a, a
	early.At, late.At = second(0).Add(-4*time.Minute), second(0).Add(4*time.Minute)
	copyOf := func(s compact.Sent) *compact.Sent { return &s }
	m := market()
	for name, test := range map[string]struct {
		stream *events.Stream
		after  time.Duration
		m      compact.Market
		want   bool
	}{
		"just now":                                {sentStream(copyOf(a)), time.Minute, m, false},
		"long ago":                                {sentStream(copyOf(a)), 6 * time.Minute, m, true},
		"the answer began after the request":      {sentStream(copyOf(early)), 2 * time.Minute, m, false},
		"the request was sent again":              {sentStream(copyOf(late)), 6 * time.Minute, m, false},
		"another model":                           {sentStream(copyOf(b)), time.Minute, m, true},
		"other tools":                             {sentStream(copyOf(tools)), time.Minute, m, true},
		"there and back":                          {sentStream(copyOf(a), copyOf(b)), 2 * time.Minute, m, false},
		"nobody knows what was asked":             {sentStream(nil), time.Minute, m, false},
		"nor long ago":                            {sentStream(nil), 6 * time.Minute, m, true},
		"nobody knows how long":                   {sentStream(copyOf(a)), 1000 * time.Hour, compact.Market{}, false},
		"nothing":                                 {sentStream(), time.Minute, m, true},
		"an unknown lifetime may be the longest":  {sentStream(copyOf(a)), 20 * time.Minute, long, false},
		"it too is over at last":                  {sentStream(copyOf(a)), 66 * time.Minute, long, true},
		"a lifetime that was asked for":           {sentStream(copyOf(short)), 7 * time.Minute, long, true},
		"a longer one, before the policy changed": {sentStream(copyOf(hour)), 7 * time.Minute, long, false},
		"asked and not answered": {
			new(talk).turn("q").stream(), time.Minute, m, false,
		},
	} {
		next := a
		next.At = second(0).Add(test.after)
		if got := compact.IsCold(test.stream, next, test.m); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}

func TestReplayOfAStream(t *testing.T) {
	k := new(talk)
	for n := range 10 {
		k.turn(fmt.Sprint("q", n)).call("fs_read_file", `{"path":"a"}`, long+fmt.Sprint(n)).say("m")
	}
	h, err := compact.HistoryOf(k.stream(), compact.ObsoleteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Exchanges) != 20 || len(h.Trims) != 9 {
		t.Fatalf("%d exchanges and %d trims", len(h.Exchanges), len(h.Trims))
	}
	m := market()
	never, eager := compact.Replay(h, compact.Never, m, m.Promised()), compact.Replay(h, compact.Eager, m, m.Promised())
	if never.Trimmed != 0 || never.Calls != 20 || eager.Trimmed != 9 || eager.Sent >= never.Sent || never.USD <= 0 {
		t.Errorf("never %+v\neager %+v", never, eager)
	}
}
