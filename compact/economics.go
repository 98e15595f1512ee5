package compact

import (
	"cmp"
	"fmt"
	"time"

	"github.com/git-jp/git-jp/events"
)

// A Market holds the prices of a model's tokens and the rules by which its provider caches prompts.
// Zero means unknown.
type Market struct {
	Model string
	// Input, Read and Write are in USD per million tokens: processed without the cache, read from
	// the cache, and written to it.
	Input, Read, Write float64
	TTL                time.Duration // after which a cache entry may be evicted
	Gone               time.Duration // after which it certainly is
	Longest            time.Duration // Gone for the longest lifetime that the provider offers
	Minimum            int64         // length in tokens from which a prompt is cached
	Grain              int64         // the cached length is a multiple of this
	AsOf               string        // day of the prices
}

// Priced reports whether the prices are known.
func (m Market) Priced() bool { return m.Input > 0 }

// Caches reports whether tokens that were sent before cost less the second time.
func (m Market) Caches() bool { return m.Read < m.Input }

// factors returns the costs of reading from the cache and writing to it, relative to an uncached
// token.
func (m Market) factors() (read, write float64) {
	if !m.Priced() {
		return 1, 1
	}
	return m.Read / m.Input, max(m.Write, m.Input) / m.Input
}

// Money holds the cost and savings of a change of a prompt, in USD and calls.
type Money struct {
	Model string `json:"model"`
	// Now is saved with the next call; negative if the call costs more.
	Now     *float64 `json:"usd_saved_next_call"`
	PerCall *float64 `json:"usd_saved_later_call"`
	// BreakEven is the number of calls after which the change has paid off; 0 for immediately, null
	// if unknown.
	BreakEven *float64 `json:"break_even_calls"`
	Cold      bool     `json:"cache_cold"`
	AsOf      string   `json:"prices_as_of"`
}

const million = 1e6

// Rewrite returns the cost and savings of removing z tokens from a prompt that has l tokens from
// the first removed one on.
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

// A Schedule decides when a prompt that was already sent may be trimmed. If the window would
// overflow, every schedule trims.
type Schedule string

// The schedules.
const (
	Never    Schedule = "never"
	Cold     Schedule = "cold"     // only when the provider has evicted the prompt
	Balanced Schedule = "balanced" // also when carrying the tokens has cost as much as rewriting
	Eager    Schedule = "eager"    // immediately
)

// Schedules returns the schedules, the most careful first.
func Schedules() []Schedule { return []Schedule{Never, Cold, Balanced, Eager} }

// A Pending describes the possible trims in the next request.
type Pending struct {
	Tokens  float64 // that would be removed
	Tail    float64 // from the first of them to the end
	Prompt  float64 // of the whole request
	Carried float64 // removable tokens, summed over the calls since they were
	Sent    float64 // of all earlier requests; 0 if unknown
	Window  float64 // of the model; 0 if unknown
	Cold    bool    // the provider has evicted the prompt
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
		return true, "the provider has no cache"
	case p.Cold && m.safe(p):
		return true, "the prompt is no longer in the provider's cache"
	case s == Balanced && m.Priced() && r*p.Carried >= p.again(r, w) && p.bounded(r, w):
		return true, "carrying it has cost as much as sending the rest again"
	case p.Cold:
		return false, "too little is superseded"
	default:
		return false, "the prompt is still in the provider's cache"
	}
}

// Overflows reports whether the request does not fit the model's window.
func (p Pending) Overflows() bool { return p.Window > 0 && p.Prompt > p.Window }

// A Decision is the decision of a schedule about the possible trims, with its calculation.
type Decision struct {
	Schedule Schedule
	Trim     bool
	Why      string
	Pending
	// Money holds the cost and savings of trimming now.
	Money *Money
	// CarriedUSD is the past cost of carrying the tokens, and AgainUSD the cost of sending
	// everything after them again: balanced trims when the first reaches the second. Nil if prices
	// are unknown.
	CarriedUSD, AgainUSD *float64
}

// Decision returns the decision of [Schedule.Decide] with its calculation.
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

// again returns the cost of sending the tokens after the removed ones again.
func (p Pending) again(read, write float64) float64 {
	return (write - read) * max(p.Tail-p.Tokens, 0)
}

// most bounds the extra cost of sending again, as a share of the conversation's cost so far. A
// conversation that ends right afterwards has lost no more than that.
const most = 0.08

// bounded reports whether sending again is within that bound. Earlier requests have cost at least
// that their tokens were written once and read each time.
func (p Pending) bounded(read, write float64) bool {
	return p.Sent == 0 || p.again(read, write) <= most*(read*p.Sent+(write-read)*p.Prompt)
}

// unknownMinimum is the largest known minimum, for a provider that does not publish one.
const unknownMinimum = 4096

// margin is the factor by which estimates of tokens may be wrong.
const margin = 1.5

// safe reports whether trimming cannot cost more, however the conversation continues. Two effects
// could: the prompt becomes too short to be cached at all, or it ends just after a multiple of the
// grain, and the remainder is not cached.
func (m Market) safe(p Pending) bool {
	if !m.Priced() {
		return false
	}
	if !m.Caches() {
		return true
	}
	r, _ := m.factors()
	minimum := cmp.Or(float64(m.Minimum), unknownMinimum)
	return p.Prompt-p.Tokens >= margin*minimum && p.Tokens*r >= margin*float64(m.Grain)*(1-r)
}

// IsCold reports whether the provider has certainly evicted the prompt of a stream by the time of
// the request next: every earlier request with the same beginning is older than the lifetime of
// cache entries. An answer whose request is unknown counts as having the same beginning.
func IsCold(s *events.Stream, next Sent, m Market) bool {
	alive := func(at time.Time, lifetime int64) bool {
		return m.Gone == 0 || at.IsZero() || next.At.Sub(at) <= m.goneAfter(lifetime)
	}
	said, answered := false, false // of the following event; of the request before it
	for i := s.Len() - 1; i >= 0; i-- {
		e := s.At(i)
		switch e.Kind() {
		case events.KindChatResponse, events.KindToolCallRequest:
			sent, known := SentOf(e)
			at := e.Time()
			if known && sent.At.After(at) {
				at = sent.At
			}
			if known && sent.Same(next) && alive(at, sent.Lifetime) ||
				!said && !known && alive(at, 0) {
				return false
			}
			said, answered = true, true
		case events.KindChatRequest, events.KindToolCallResponse:
			if !answered && alive(e.Time(), 0) {
				return false // it was sent, with unknown outcome
			}
			said, answered = false, answered && e.Kind() != events.KindChatRequest
		}
	}
	return true
}

// goneAfter returns the age at which a cache entry is certainly evicted, given its lifetime in
// seconds. An entry with an unknown lifetime, or another one than now, may have the longest.
func (m Market) goneAfter(lifetime int64) time.Duration {
	if lifetime > 0 && lifetime == int64(m.TTL/time.Second) {
		return m.Gone
	}
	return max(m.Gone, m.Longest)
}

// String describes the cost and savings of a change.
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
