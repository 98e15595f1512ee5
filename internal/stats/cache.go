package stats

import (
	"fmt"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/llm/models"
)

// A Cause is why tokens of a prompt did not come from the provider's cache.
type Cause string

// The causes. The cause of tokens that were sent before is the first that holds, in this order: if
// the provider had lost the prompt anyway, no later cause applies.
const (
	CauseNew       Cause = "new"
	CauseUntold    Cause = "not told"
	CauseShort     Cause = "too short"
	CauseIdle      Cause = "idle"
	CauseModel     Cause = "model"
	CauseTools     Cause = "tools or system"
	CauseRewritten Cause = "rewritten"
	CauseUnknown   Cause = "not known"
)

// Causes returns the causes in the order in which they are shown.
func Causes() []Cause {
	return []Cause{
		CauseNew, CauseIdle, CauseModel, CauseTools, CauseRewritten, CauseShort, CauseUntold,
		CauseUnknown,
	}
}

// Because says for people why tokens did not come from the cache.
func (c Cause) Because() string {
	return map[Cause]string{
		CauseNew:       "they had not been sent before",
		CauseIdle:      "the lifetime of the cache was over",
		CauseModel:     "another model was asked before",
		CauseTools:     "the tools or the system prompt changed",
		CauseRewritten: "a compaction, a trim or an edit changed what stands before them",
		CauseShort:     "the prompt was shorter than what the provider caches",
		CauseUntold:    "the provider tells nothing of a cache",
		CauseUnknown:   "unknown: the provider lost them, or it is not recorded",
	}[c]
}

// A Caching is how the provider's cache was used, by recorded usage alone.
type Caching struct {
	Answers int   `json:"answers"`
	Read    int64 `json:"read"` // from the cache
	// Written is how much was written into it, and Untold the number of answers for which that is
	// not known.
	Written int64 `json:"written"`
	Untold  int   `json:"answers_without_writes_told"`
	Full    int64 `json:"read_in_full"` // and not written
	// USD is the cost of reading from the cache, and Unpriced the number of answers whose price is
	// not known.
	USD      float64       `json:"usd"`
	Unpriced int           `json:"unpriced"`
	Causes   []CauseTokens `json:"causes"`
}

// CauseTokens are the tokens that were written or read in full for one cause.
type CauseTokens struct {
	Cause   Cause   `json:"cause"`
	Answers int     `json:"answers"`
	Tokens  int64   `json:"tokens"`
	USD     float64 `json:"usd"`
}

// A CacheLedger adds up how conversations used the provider's cache.
type CacheLedger struct {
	table *models.Table
	seen  map[blobs.Hash]bool
	all   []exchange
	tells map[string]telling
}

// A telling is what usage of a model reports about its cache.
type telling struct{ reads, writes bool }

// An exchange is an answer, with the one before it.
type exchange struct {
	answer
	before *answer // nil for the first of a conversation
}

// NewCacheLedger returns an empty one.
func NewCacheLedger(table *models.Table) *CacheLedger {
	return &CacheLedger{table: table, seen: map[blobs.Hash]bool{}, tells: map[string]telling{}}
}

// Add adds a conversation. Its answers count unless they were counted already.
func (l *CacheLedger) Add(s Subject) error {
	var before *answer
	err := eachAnswer(s.Base, s.Stream, func(a answer) {
		if key := a.identity(s.Agent); !l.seen[key] {
			l.seen[key] = true
			t := l.tells[a.model]
			t.reads = t.reads || a.usage.CacheRead > 0
			t.writes = t.writes || a.usage.CacheWrite > 0
			l.tells[a.model] = t
			l.all = append(l.all, exchange{a, before})
		}
		before = &a
	})
	if err != nil {
		return fmt.Errorf("read the configuration of %s: %w", s.ID, err)
	}
	return nil
}

// Caching returns the sums.
func (l *CacheLedger) Caching() Caching {
	c := Caching{Causes: []CauseTokens{}}
	by := map[Cause]*CauseTokens{}
	for _, cause := range Causes() {
		by[cause] = &CauseTokens{Cause: cause}
	}
	for _, x := range l.all {
		l.count(&c, by, x)
	}
	for _, cause := range Causes() {
		if by[cause].Answers > 0 {
			c.Causes = append(c.Causes, *by[cause])
		}
	}
	return c
}

func (l *CacheLedger) count(c *Caching, by map[Cause]*CauseTokens, x exchange) {
	row, _ := l.table.Find(x.model)
	t := l.telling(row, x.model)
	c.Answers++
	if !t.writes {
		c.Untold++
	}
	if _, known := x.cost(l.table); !known {
		c.Unpriced++
	}
	counted := map[Cause]bool{}
	for i, u := range x.charges {
		c.Read, c.Written, c.Full = c.Read+u.CacheRead, c.Written+u.CacheWrite, c.Full+u.Input
		read := float64(u.CacheRead) * row.Of(u.Prompt()).Read / million
		c.USD += read
		u.Output = 0
		usd, _ := row.Cost(u.Usage, u.hour)
		for _, part := range x.parts(row, t, i) {
			b := by[part.Cause]
			if !counted[part.Cause] {
				counted[part.Cause] = true
				b.Answers++
			}
			b.Tokens += part.Tokens
			b.USD += (usd - read) * float64(part.Tokens) / float64(u.fresh())
		}
	}
}

// fresh returns how many tokens did not come from the cache.
func (c charge) fresh() int64 { return c.Input + c.CacheWrite }

// parts divides the tokens of a request that did not come from the cache by cause.
func (x exchange) parts(row models.Row, t telling, request int) (all []CauseTokens) {
	fresh := x.charges[request].fresh()
	again, cause := x.again(row, t, request)
	for _, p := range []CauseTokens{
		{Cause: CauseNew, Tokens: fresh - again}, {Cause: cause, Tokens: again},
	} {
		if p.Tokens > 0 {
			all = append(all, p)
		}
	}
	return all
}

const million = 1e6

// telling returns what the provider of a model reports about its cache: what it reported once, and
// writes if these have their own price.
func (l *CacheLedger) telling(row models.Row, model string) telling {
	t := l.tells[model]
	t.writes = t.writes || row.Price.Write > row.Price.Input
	t.reads = t.reads || row.Price.Read > 0 && row.Price.Read < row.Price.Input
	return t
}

// slack is how many tokens of a cached prompt a provider may read again: it caches in multiples of
// some tokens, and counts those of a message's frame differently the second time.
const slack = 256

// again returns how many of the tokens that did not come from the cache had been sent before, with
// the answer before or with another request for this answer, and why they were sent once more.
func (x exchange) again(row models.Row, t telling, request int) (int64, Cause) {
	u, was := x.charges[request], x.charges[0].Prompt()
	switch {
	case request > 0:
	case x.before != nil:
		was = x.before.prompt().Prompt()
	case x.rewritten:
		return u.fresh(), CauseRewritten
	default:
		return 0, CauseNew
	}
	n := u.fresh() - max(u.Prompt()-was, 0)
	if n <= max(slack, int64(row.Cache.Grain)) {
		return 0, CauseNew
	}
	return n, x.cause(row, t, request)
}

// cause returns why tokens that were sent before did not come from the cache.
func (x exchange) cause(row models.Row, t telling, request int) Cause {
	b, u := x.before, x.charges[request]
	switch {
	case !t.reads && !t.writes:
		return CauseUntold
	case u.CacheRead+u.CacheWrite == 0 && u.Prompt() < int64(row.Cache.Minimum):
		return CauseShort
	case request > 0:
		return CauseUnknown
	case x.idle(row):
		return CauseIdle
	case x.model != b.model:
		return CauseModel
	case x.asked.sent && b.asked.sent &&
		(x.sent.Tools != b.sent.Tools || x.sent.Prefix != b.sent.Prefix):
		return CauseTools
	case x.rewritten || u.Prompt() < b.prompt().Prompt():
		return CauseRewritten
	default:
		return CauseUnknown
	}
}

// idle reports whether the provider kept the prompt for less time than passed between two requests.
func (x exchange) idle(row models.Row) bool {
	b := x.before
	lifetime := time.Duration(b.sent.Lifetime) * time.Second
	if lifetime == 0 {
		lifetime = time.Duration(row.Cache.TTL)
	}
	return lifetime > 0 && !b.asked.at.IsZero() && x.asked.at.Sub(b.asked.at) > lifetime
}
