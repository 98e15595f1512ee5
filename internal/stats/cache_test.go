package stats_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/models"
	"github.com/git-jp/git-jp/internal/stats"
)

// The models of the tests.
const (
	claude = "anthropic/claude-sonnet-4-6"
	haiku  = "anthropic/claude-haiku-4-5"
	gpt    = "openai/gpt-5"
	llama  = "ollama/llama"
	sol    = "openai/gpt-5.6-sol" // has a tier
)

// An asked is one answer of a test, at a minute after the first.
type asked struct {
	minute             int
	model              string
	input, read, write int64
	tools              string
	lifetime           int64 // 0: the request is not recorded
	rewritten          bool  // by a compaction, before it
}

// conversation returns a stream of answers.
func conversation(all []asked) *events.Stream {
	s := events.New()
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, a := range all {
		at := begin.Add(time.Duration(a.minute) * time.Minute)
		s.Append(events.NewElement(at, &events.TurnStart{}, events.Metadata{}))
		if a.rewritten {
			s.Append(events.NewElement(at, &events.Compaction{StripReasoning: true}, events.Metadata{}))
		}
		s.Append(events.NewElement(at, &events.ChatRequest{Content: "q"}, events.Metadata{}))
		_, name, _ := llm.SplitID(a.model)
		u := compact.Usage{Input: a.input, CacheRead: a.read, CacheWrite: a.write, Output: 10, Model: name}
		md := compact.WithUsage(events.Metadata{}, u)
		sent := compact.Sent{At: at, Model: a.model, Tools: a.tools, Lifetime: a.lifetime}
		if a.lifetime == 0 {
			s.Append(events.NewElement(at, &events.ConfigDelta{
				Delta: fmt.Appendf(nil, `{"assistant":{"model":{"id":%q}}}`, a.model),
			}, events.Metadata{}))
		} else {
			md = compact.WithSent(md, sent)
		}
		s.Append(events.NewElement(at.Add(time.Second), &events.ChatResponse{Text: "a"}, md))
	}
	return s
}

// TestCauses tests why a prompt was written or read once more, by what is recorded of it.
func TestCauses(t *testing.T) {
	const ttl, hour = 300, 3600
	for name, c := range map[string]struct {
		all  []asked
		want string
	}{
		"a prompt that grows": {
			[]asked{{0, claude, 10, 0, 9990, "t", ttl, false}, {1, claude, 10, 10_000, 1990, "t", ttl, false}},
			"new 2 12000",
		},
		"its lifetime was over": {
			[]asked{{0, claude, 0, 0, 10_000, "t", ttl, false}, {6, claude, 0, 0, 12_000, "t", ttl, false}},
			"new 2 12000, idle 1 10000",
		},
		"it was asked for an hour": {
			[]asked{{0, claude, 0, 0, 10_000, "t", hour, false}, {6, claude, 0, 0, 12_000, "t", hour, false}},
			"new 2 12000, not known 1 10000",
		},
		"its lifetime is the table's where it is not recorded": {
			[]asked{{0, claude, 0, 0, 10_000, "", 0, false}, {6, claude, 0, 0, 12_000, "", 0, false}},
			"new 2 12000, idle 1 10000",
		},
		"it was idle, and the model another one: it was lost anyway": {
			[]asked{{0, claude, 0, 0, 10_000, "t", ttl, false}, {9, haiku, 0, 0, 12_000, "t", ttl, true}},
			"new 2 12000, idle 1 10000",
		},
		"another model": {
			[]asked{{0, claude, 0, 0, 10_000, "t", ttl, false}, {1, haiku, 0, 0, 11_000, "t", ttl, false}},
			"new 2 11000, model 1 10000",
		},
		"other tools": {
			[]asked{{0, claude, 0, 0, 10_000, "t", ttl, false}, {1, claude, 0, 0, 11_000, "u", ttl, false}},
			"new 2 11000, tools or system 1 10000",
		},
		"an overlay": {
			[]asked{{0, claude, 0, 0, 10_000, "t", ttl, false}, {1, claude, 0, 4000, 7000, "t", ttl, true}},
			"new 2 11000, rewritten 1 6000",
		},
		"a prompt that became smaller": {
			[]asked{{0, claude, 0, 0, 10_000, "t", ttl, false}, {1, claude, 0, 4000, 3000, "t", ttl, false}},
			"new 1 10000, rewritten 1 3000",
		},
		"nobody knows": {
			[]asked{{0, claude, 0, 0, 10_000, "", 0, false}, {1, claude, 0, 4000, 7000, "", 0, false}},
			"new 2 11000, not known 1 6000",
		},
		"a little is read twice": {
			[]asked{{0, gpt, 10_000, 0, 0, "t", ttl, false}, {1, gpt, 1300, 9800, 0, "t", ttl, false}},
			"new 2 11300",
		},
		"a provider that tells of no writes": {
			[]asked{{0, gpt, 10_000, 0, 0, "t", ttl, false}, {1, gpt, 11_000, 0, 0, "u", ttl, false}},
			"new 2 11000, tools or system 1 10000; 2 untold",
		},
		"a provider that tells nothing": {
			[]asked{{0, llama, 10_000, 0, 0, "t", ttl, false}, {1, llama, 11_000, 0, 0, "t", ttl, false}},
			"new 2 11000, not told 1 10000; 2 untold",
		},
		"shorter than what is cached": {
			[]asked{{0, claude, 900, 0, 0, "t", ttl, false}, {1, claude, 1000, 0, 0, "t", ttl, false}},
			"new 2 1000, too short 1 900",
		},
		"a summary, and nothing before it": {
			[]asked{{0, claude, 0, 0, 3000, "t", ttl, true}},
			"rewritten 1 3000",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := caching(t, conversation(c.all))
			var words []string
			for _, x := range got.Causes {
				words = append(words, fmt.Sprintf("%s %d %d", x.Cause, x.Answers, x.Tokens))
			}
			told := strings.Join(words, ", ")
			if strings.Contains(c.want, ";") {
				told += fmt.Sprintf("; %d untold", got.Untold)
			}
			if told != c.want {
				t.Errorf("told is %q, want %q", told, c.want)
			}
			var sum int64
			for _, x := range got.Causes {
				sum += x.Tokens
			}
			if sum != got.Full+got.Written {
				t.Errorf("the causes are of %d tokens, and %d were not in the cache", sum, got.Full+got.Written)
			}
		})
	}
}

func caching(t *testing.T, all ...*events.Stream) stats.Caching {
	t.Helper()
	table, err := models.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	l := stats.NewCacheLedger(table)
	for i, s := range all {
		if err := l.Add(stats.Subject{ID: events.ID(i), Stream: s}); err != nil {
			t.Fatal(err)
		}
	}
	return l.Caching()
}

// TestCachingCosts tests the money: the causes and the reads together cost what the prompts cost,
// and content that is kept longer costs more.
func TestCachingCosts(t *testing.T) {
	cost := func(c stats.Caching) float64 {
		sum := c.USD
		for _, x := range c.Causes {
			sum += x.USD
		}
		return sum
	}
	short := conversation([]asked{
		{0, claude, 0, 0, 1_000_000, "t", 300, false}, {6, claude, 100_000, 900_000, 1_000_000, "t", 300, false},
	})
	if got, want := cost(caching(t, short)), 2*3.75+0.3+0.27; math.Abs(got-want) > 1e-9 {
		t.Errorf("it cost %f, want %f", got, want)
	}
	long := conversation([]asked{{0, claude, 0, 0, 1_000_000, "t", 3600, false}})
	if got := cost(caching(t, long)); math.Abs(got-6) > 1e-9 {
		t.Errorf("an hour cost %f, want 6", got)
	}
	free := caching(t, conversation([]asked{{0, llama, 5, 0, 0, "t", 300, false}, {1, "mystery/m", 5, 0, 0, "t", 300, false}}))
	if free.Unpriced != 1 || cost(free) != 0 {
		t.Errorf("%d answers have no price, and cost %f", free.Unpriced, cost(free))
	}
}

// TestLedgersAgree verifies that spending and caching compute the same cost for the same answers,
// whether their request or their usage says that cache entries are kept for an hour.
func TestLedgersAgree(t *testing.T) {
	asks := conversation([]asked{{0, claude, 0, 0, 1_000_000, "t", 3600, false}})
	imported := events.New(events.NewElement(time.Time{}, &events.ChatResponse{Text: "a"},
		compact.WithUsage(events.Metadata{}, compact.Usage{
			Input: 100_000, CacheRead: 200_000, CacheWrite: 500_000, CacheWriteHour: 400_000,
		})))
	for name, c := range map[string]struct {
		stream *events.Stream
		want   float64 // of the prompt
	}{
		"the request": {asks, 6},
		"the usage":   {imported, 0.3 + 0.06 + 0.1*3.75 + 0.4*6},
		"the usage, not the request": {events.New(events.NewElement(time.Time{}, &events.ChatResponse{Text: "a"},
			compact.WithSent(compact.WithUsage(events.Metadata{}, compact.Usage{
				CacheWrite: 500_000, CacheWriteHour: 400_000,
			}), compact.Sent{Model: claude, Lifetime: 3600}))), 0.1*3.75 + 0.4*6},
		"earlier requests": {events.New(events.NewElement(time.Time{}, &events.ChatResponse{Text: "a"},
			compact.WithUsage(events.Metadata{}, compact.Usage{
				Input: 100_000, Earlier: &compact.Usage{Input: 300_000, CacheRead: 100_000},
			}))), 0.4*3 + 0.03},
		"the usage, twice": {events.New(imported.At(0), imported.At(0)), 0.3 + 0.06 + 0.1*3.75 + 0.4*6},
		"each request has its tier": {events.New(events.NewElement(time.Time{}, &events.ChatResponse{Text: "a"},
			compact.WithSent(compact.WithUsage(events.Metadata{}, compact.Usage{Input: 100_000}.
				After(compact.Usage{Input: 200_000}).After(compact.Usage{Input: 300_000}),
			), compact.Sent{Model: sol}))), 0.3*4 + 0.3*8},
	} {
		base := []byte(`{"assistant":{"model":{"id":"` + claude + `"}}}`)
		s := stats.Subject{ID: 1, Base: base, Stream: c.stream}
		table, err := models.Builtin()
		if err != nil {
			t.Fatal(err)
		}
		spending, cache := stats.NewLedger(stats.ByModel, time.UTC, table), stats.NewCacheLedger(table)
		if err := errors.Join(spending.Add(s), cache.Add(s)); err != nil {
			t.Fatal(err)
		}
		spent := stats.Total(spending.Rows())
		cached := cache.Caching()
		prompt := cached.USD
		for _, x := range cached.Causes {
			prompt += x.USD
		}
		output := float64(spent.Output) * 15 / 1e6
		if math.Abs(spent.USD-output-c.want) > 1e-9 || math.Abs(prompt-c.want) > 1e-9 {
			t.Errorf("%s: spent is %f, by cause %f, want %f", name, spent.USD-output, prompt, c.want)
		}
	}
}

// TestRedactedCopyCachesOnce verifies that an answer of an agent counts once if one of its copies
// was redacted.
func TestRedactedCopyCachesOnce(t *testing.T) {
	table, err := models.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	l := stats.NewCacheLedger(table)
	for i, text := range []string{"The word.", "The [redacted:word]."} {
		md := compact.WithUsage(events.Metadata{}, compact.Usage{Input: 10, Output: 1})
		md = md.WithText(events.MetadataSource, "k")
		s := events.New(events.NewElement(time.Time{}, &events.ChatResponse{Text: text}, md))
		if err := l.Add(stats.Subject{ID: events.ID(i), Agent: "codex", Stream: s}); err != nil {
			t.Fatal(err)
		}
	}
	if c := l.Caching(); c.Answers != 1 || c.Full != 10 {
		t.Errorf("counted is %+v", c)
	}
}

// TestForksCountOnce verifies that an answer counts once in however many conversations it is.
func TestForksCountOnce(t *testing.T) {
	all := []asked{{0, claude, 0, 0, 10_000, "t", 300, false}, {1, claude, 0, 10_000, 2000, "t", 300, false}}
	one := conversation(all)
	both := caching(t, one, conversation(append(all, asked{2, claude, 0, 12_000, 1000, "t", 300, false})))
	if both.Answers != 3 || both.Written != 13_000 || both.Read != 22_000 {
		t.Errorf("counted is %+v", both)
	}
	if len(both.Causes) != 1 || both.Causes[0].Tokens != 13_000 {
		t.Errorf("the causes are %+v", both.Causes)
	}
}

// TestChangedCopyCountsOnce verifies that an answer counts once if one of its copies was edited or
// redacted, and that another one with the same usage counts, too.
func TestChangedCopyCountsOnce(t *testing.T) {
	table, err := models.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	caching, spending := stats.NewCacheLedger(table), stats.NewLedger(stats.ByModel, time.UTC, table)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, c := range []struct {
		text string
		at   time.Time
	}{{"The word.", at}, {"The [redacted:word].", at}, {"Another.", at.Add(time.Second)}} {
		md := compact.WithUsage(events.Metadata{}, compact.Usage{Input: 10, Output: 1})
		md = compact.WithSent(md, compact.Sent{At: c.at, Model: claude})
		s := stats.Subject{ID: events.ID(i), Stream: events.New(
			events.NewElement(at, &events.ChatResponse{Text: c.text}, md))}
		if err := errors.Join(caching.Add(s), spending.Add(s)); err != nil {
			t.Fatal(err)
		}
	}
	if c, s := caching.Caching(), stats.Total(spending.Rows()); c.Answers != 2 || s.Answers != 2 {
		t.Errorf("counted are %d and %d answers, want 2", c.Answers, s.Answers)
	}
}

// TestLargestPrompt verifies that the context is as full as the largest prompt, not as the sum of
// the prompts of an answer in several requests.
func TestLargestPrompt(t *testing.T) {
	md := compact.WithUsage(events.Metadata{}, compact.Usage{Input: 60}.
		After(compact.Usage{Input: 10, CacheRead: 90}).After(compact.Usage{Input: 20}))
	s := events.New(events.NewElement(time.Unix(1, 0), &events.TurnStart{}, events.Metadata{}),
		events.NewElement(time.Unix(1, 0), &events.ChatResponse{Text: "a"}, md))
	answers, err := stats.Answers(stats.Subject{Stream: s}, nil)
	turns, err2 := stats.Turns(nil, s, nil)
	if err != nil || err2 != nil || len(answers) != 1 || len(turns) != 1 {
		t.Fatal(err, err2, len(answers), len(turns))
	}
	a, turn := answers[0], turns[0]
	if a.Input != 180 || a.Largest != 100 || a.LargestCached != 90 {
		t.Errorf("the answer: %+v", a)
	}
	if turn.Input != 180 || turn.Largest != 100 || turn.LargestCached != 90 {
		t.Errorf("the turn: %+v", turn)
	}
}
