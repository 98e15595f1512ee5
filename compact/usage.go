package compact

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/git-jp/git-jp/events"
)

const (
	// MetadataUsage is the key under which an answer keeps its [Usage].
	MetadataUsage = events.MetadataPrefix + "usage"
	// MetadataSent is the key under which the last event of an answer keeps its request, see
	// [Sent].
	MetadataSent = events.MetadataPrefix + "sent"
)

// A Usage is the number of tokens that an answer has used, as it is stored with the answer.
type Usage struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cache_read,omitempty"`
	CacheWrite int64 `json:"cache_write,omitempty"`
	// CacheWriteHour is the part of CacheWrite that the provider keeps for an hour.
	CacheWriteHour int64 `json:"cache_write_1h,omitempty"`
	// Reasoning is the part of Output that was reasoning, if the provider reports it.
	Reasoning int64  `json:"reasoning,omitempty"`
	Model     string `json:"model,omitempty"`
	// Earlier is the usage of another request, which may have another one in turn: those whose
	// answers this one continues, the further ones of this answer, and those whose answers left no
	// event. They are charged, but say nothing about the size of the prompt.
	Earlier *Usage `json:"earlier,omitempty"`
}

// Prompt returns the size of the entire prompt.
func (u Usage) Prompt() int64 { return u.Input + u.CacheRead + u.CacheWrite }

// Exchanges yields the usage of each request, beginning with the one whose prompt [Usage.Prompt]
// returns. They are priced one by one: a price depends on the size of a prompt.
func (u Usage) Exchanges() iter.Seq[Usage] {
	return func(yield func(Usage) bool) {
		for next := &u; next != nil; next = next.Earlier {
			one := *next
			if one.Earlier = nil; !yield(one) {
				return
			}
		}
	}
}

// Total returns the sum of all requests.
func (u Usage) Total() (sum Usage) {
	for x := range u.Exchanges() {
		sum = x.Add(sum)
	}
	return sum
}

// Add returns the sum of two requests; the later one names the model.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, Output: u.Output + v.Output,
		CacheRead: u.CacheRead + v.CacheRead, CacheWrite: u.CacheWrite + v.CacheWrite,
		CacheWriteHour: u.CacheWriteHour + v.CacheWriteHour,
		Reasoning:      u.Reasoning + v.Reasoning, Model: cmp.Or(v.Model, u.Model),
	}
}

// maxExchanges limits how many requests are kept apart: jp reads only so many levels of a file.
const maxExchanges = 32

// After returns the usage with that of other requests added to the earlier ones.
func (u Usage) After(e Usage) Usage {
	all := slices.Collect(u.Exchanges())
	for x := range e.Exchanges() {
		if x != (Usage{}) {
			all = append(all, x)
		}
	}
	for _, more := range all[min(len(all), maxExchanges):] {
		all[maxExchanges-1] = all[maxExchanges-1].Add(more)
	}
	all = all[:min(len(all), maxExchanges)]
	for i := range len(all) - 1 {
		all[i].Earlier = &all[i+1]
	}
	return all[0]
}

// UsageOf returns the usage that is stored with an element, without figures that are impossible.
func UsageOf(e *events.Element) (u Usage, ok bool) {
	if !e.Metadata().JSON(MetadataUsage, &u) {
		return u, false
	}
	for x := &u; x != nil; x = x.Earlier {
		x.bound()
	}
	return u, true
}

// mostTokens is more than any request uses, and so few that no sum of them overflows.
const mostTokens = 1 << 36

// bound replaces figures that are impossible. A file may have any, and no sum may become negative.
func (u *Usage) bound() {
	for _, n := range []*int64{&u.Input, &u.Output, &u.CacheRead, &u.CacheWrite} {
		*n = min(max(*n, 0), mostTokens)
	}
	u.CacheWriteHour = min(max(u.CacheWriteHour, 0), u.CacheWrite)
	u.Reasoning = min(max(u.Reasoning, 0), u.Output)
}

// WithUsage returns md with usage added.
func WithUsage(md events.Metadata, u Usage) events.Metadata {
	return md.WithJSON(MetadataUsage, u)
}

// A Sent records a request, to find out whether the provider still has its prompt when the next one
// is sent.
type Sent struct {
	At     time.Time `json:"at"`
	Model  string    `json:"model"`
	Prefix string    `json:"prefix"` // digest of what a cached prefix depends on
	Tools  string    `json:"tools"`  // digest of the tools
	// Lifetime is the requested lifetime of the cache entry in seconds, 0 if unknown.
	Lifetime int64 `json:"lifetime,omitempty"`
	// Size is the estimated number of tokens of the conversation in it, before any calibration.
	// Usage that is recorded with it refers to that text, whatever becomes of the conversation.
	Size int64 `json:"size,omitempty"`
}

// Same reports whether two requests to the same model begin with the same bytes.
func (s Sent) Same(o Sent) bool {
	return s.Model == o.Model && s.Prefix == o.Prefix && s.Tools == o.Tools
}

// WithSent returns md with a request added, unless its time is out of range.
func WithSent(md events.Metadata, s Sent) events.Metadata { return md.WithJSON(MetadataSent, s) }

// SentOf returns the request that is stored with an element.
func SentOf(e *events.Element) (s Sent, ok bool) {
	ok = e.Metadata().JSON(MetadataSent, &s)
	return s, ok
}

// LastSent returns the last recorded request.
func LastSent(s *events.Stream) (Sent, bool) {
	for i := s.Len() - 1; i >= 0; i-- {
		if sent, ok := SentOf(s.At(i)); ok {
			return sent, true
		}
	}
	return Sent{}, false
}
