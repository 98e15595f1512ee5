package compact

import (
	"fmt"
	"time"

	"github.com/git-jp/git-jp/events"
)

// A Market says what tokens of a model cost and how its provider caches prompts. What is zero
// is not known.
type Market struct {
	Model string
	// Input, Read and Write are USD for a million tokens: read in full, from the cache, and
	// into it.
	Input, Read, Write float64
	TTL                time.Duration // after which an entry may be gone
	Gone               time.Duration // after which it surely is
	Longest            time.Duration // that of the longest lifetime that the provider offers
	Minimum            int64         // tokens from which on a prompt is cached
	Grain              int64         // tokens in whose multiples it is
	AsOf               string        // day of the prices
}

// Priced reports whether the prices are known.
func (m Market) Priced() bool { return m.Input > 0 }

// Caches reports whether what was sent once costs less the second time.
func (m Market) Caches() bool { return m.Read < m.Input }

// factors returns what reading from the cache and writing into it cost, in units of a token
// that is read in full.
func (m Market) factors() (read, write float64) {
	if !m.Priced() {
		return 1, 1
	}
	return m.Read / m.Input, max(m.Write, m.Input) / m.Input
}

// Money is what a change of a prompt costs and saves, in USD and calls.
type Money struct {
	Model string `json:"model"`
	// Now is saved with the next call; less than 0 where that costs more.
	Now     *float64 `json:"usd_saved_next_call"`
	PerCall *float64 `json:"usd_saved_later_call"`
	// BreakEven is how many calls it takes until the change has paid; 0 for at once, null
	// where it is not known.
	BreakEven *float64 `json:"break_even_calls"`
	Cold      bool     `json:"cache_cold"`
	AsOf      string   `json:"prices_as_of"`
}

const million = 1e6

// Rewrite returns what it costs and saves to take z tokens out of a prompt of which l tokens
// stand at or behind the first of them.
func (m Market) Rewrite(z, l float64, cold bool) *Money {
	out := &Money{Model: m.Model, Cold: cold, AsOf: m.AsOf}
	if !m.Priced() {
		return out
	}
	r, w := m.factors()
	gain := w * z
	if !cold {
		gain = r*z - (w-r)*max(l-z, 0)
	}
	now, later := gain*m.Input/million, r*z*m.Input/million
	out.Now, out.PerCall = &now, &later
	switch calls := 0.0; {
	case gain >= 0:
		out.BreakEven = &calls
	case r*z > 0:
		calls = (w - r) * max(l-z, 0) / (r * z)
		out.BreakEven = &calls
	}
	return out
}

// A Schedule says when what was already sent may be trimmed. Where the window would overflow,
// every schedule trims.
type Schedule string

// The schedules.
const (
	Never    Schedule = "never"
	Cold     Schedule = "cold"     // only when the provider has forgotten the prompt
	Balanced Schedule = "balanced" // and when carrying it has cost as much as rewriting would
	Eager    Schedule = "eager"    // at once
)

// Schedules returns the schedules, from the most careful.
func Schedules() []Schedule { return []Schedule{Never, Cold, Balanced, Eager} }

// A Pending is what could be trimmed of the next request.
type Pending struct {
	Tokens  float64 // that would go
	Tail    float64 // at and behind the first of them
	Prompt  float64 // of the whole request
	Carried float64 // tokens that could have gone, summed over the calls since they could
	Sent    float64 // of all requests before; 0 when it is not known
	Window  float64 // of the model; 0 when it is not known
	Cold    bool    // the provider has forgotten the prompt
}

// Decide reports whether to trim now, and why.
func (s Schedule) Decide(p Pending, m Market) (trim bool, why string) {
	r, w := m.factors()
	switch {
	case p.Tokens <= 0:
		return false, "nothing is superseded"
	case p.Overflows():
		return true, "the request would not fit the model's window"
	case s == Never:
		return false, "the schedule is never"
	case s == Eager:
		return true, "the schedule is eager"
	case m.Priced() && !m.Caches():
		return true, "the provider keeps nothing, and reads all of it each time"
	case p.Cold && m.safe(p):
		return true, "the provider has forgotten the prompt"
	case s == Balanced && m.Priced() && r*p.Carried >= p.again(r, w) && p.bounded(r, w):
		return true, "carrying it has cost as much as sending the rest again"
	case p.Cold:
		return false, "too little is superseded"
	default:
		return false, "the provider still has the prompt"
	}
}

// Overflows reports whether the request does not fit the model's window.
func (p Pending) Overflows() bool { return p.Window > 0 && p.Prompt > p.Window }

// A Decision is what a schedule says of what could be trimmed, with its arithmetic.
type Decision struct {
	Schedule Schedule
	Trim     bool
	Why      string
	Pending
	// Money is what trimming now would cost and save.
	Money *Money
	// CarriedUSD is what carrying it has cost, and AgainUSD what it costs to send again what stands
	// behind it: balanced trims when the first reaches the second. Nil where prices are not known.
	CarriedUSD, AgainUSD *float64
}

// Decision is that of [Schedule.Decide].
func (s Schedule) Decision(p Pending, m Market) Decision {
	d := Decision{Schedule: s, Pending: p, Money: m.Rewrite(p.Tokens, p.Tail, p.Cold)}
	d.Trim, d.Why = s.Decide(p, m)
	if m.Priced() {
		r, w := m.factors()
		carried, again := r*p.Carried*m.Input/million, p.again(r, w)*m.Input/million
		d.CarriedUSD, d.AgainUSD = &carried, &again
	}
	return d
}

// again is what it costs to send again what stands behind what goes.
func (p Pending) again(read, write float64) float64 {
	return (write - read) * max(p.Tail-p.Tokens, 0)
}

// most is the share of what a conversation has cost that sending it again may cost more: whoever
// ends it then has lost no more.
const most = 0.08

// bounded holds that against the least that the requests before have cost: all of it was written
// once, and read each time.
func (p Pending) bounded(read, write float64) bool {
	return p.Sent == 0 || p.again(read, write) <= most*(read*p.Sent+(write-read)*p.Prompt)
}

// unknownMinimum is the largest minimum of those that are known, for a provider that does not
// tell.
const unknownMinimum = 4096

// margin is by how much estimates of tokens may be wrong.
const margin = 1.5

// safe reports whether trimming cannot cost, however the conversation goes on. Two things
// could: a prompt that becomes too short to be cached at all, and one that ends a little
// behind a multiple of the grain, of which the rest is read in full.
func (m Market) safe(p Pending) bool {
	if !m.Priced() {
		return false
	}
	if !m.Caches() {
		return true
	}
	r, _ := m.factors()
	minimum := float64(m.Minimum)
	if minimum == 0 {
		minimum = unknownMinimum
	}
	return p.Prompt-p.Tokens >= margin*minimum && p.Tokens*r >= margin*float64(m.Grain)*(1-r)
}

// IsCold reports whether a provider has surely forgotten what it was sent of a stream, were
// next the request that follows: no request that began alike is younger than what entries
// live. An answer whose request is unknown may have begun alike.
func IsCold(s *events.Stream, next Sent, m Market) bool {
	alive := func(at time.Time, lifetime int64) bool {
		return m.Gone == 0 || at.IsZero() || next.At.Sub(at) <= m.goneAfter(lifetime)
	}
	said, answered := false, false // of the event behind, and of what comes before it
	for i := s.Len() - 1; i >= 0; i-- {
		e := s.At(i)
		switch e.Kind() {
		case events.KindChatResponse, events.KindToolCallRequest:
			sent, known := SentOf(e)
			if known && sent.Same(next) && alive(latest(sent.At, e.Time()), sent.Lifetime) {
				return false
			}
			if !said && !known && alive(e.Time(), 0) {
				return false
			}
			said, answered = true, true
		case events.KindChatRequest, events.KindToolCallResponse:
			if !answered && alive(e.Time(), 0) {
				return false // it was asked, with an unknown outcome
			}
			said, answered = false, answered && e.Kind() != events.KindChatRequest
		}
	}
	return true
}

// goneAfter returns when an entry that was to be kept for so many seconds is surely gone. One of
// which nobody knows for how long, or that has another lifetime than now, may have the longest.
func (m Market) goneAfter(lifetime int64) time.Duration {
	if lifetime > 0 && lifetime == int64(m.TTL/time.Second) {
		return m.Gone
	}
	return max(m.Gone, m.Longest)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// String says what a change costs and saves.
func (m *Money) String() string {
	if m == nil || m.Now == nil {
		return "prices are not known"
	}
	what := fmt.Sprintf("$%.4f saved with the next call", *m.Now)
	if *m.Now < 0 {
		what = fmt.Sprintf("the next call costs $%.4f more", -*m.Now)
	}
	what += fmt.Sprintf(", $%.4f with each later one", *m.PerCall)
	if m.BreakEven != nil && *m.BreakEven > 0 {
		what += fmt.Sprintf("; it pays after %.0f calls", *m.BreakEven)
	}
	return what + " (prices of " + m.AsOf + ")"
}
