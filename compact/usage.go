package compact

import (
	"encoding/json"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	// MetadataUsage is the key below which the [Usage] of an answer is kept.
	MetadataUsage = events.MetadataPrefix + "usage"
	// MetadataSent is the key below which the last event of an answer keeps what the request
	// was, see [Sent].
	MetadataSent = events.MetadataPrefix + "sent"
)

// A Usage is what an answer has cost, in tokens, as it is stored with the answer.
type Usage struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cache_read,omitempty"`
	CacheWrite int64 `json:"cache_write,omitempty"`
	// CacheWriteHour is what of CacheWrite is to be kept for an hour.
	CacheWriteHour int64  `json:"cache_write_1h,omitempty"`
	Model          string `json:"model,omitempty"`
}

// Prompt returns the size of the whole prompt.
func (u Usage) Prompt() int64 { return u.Input + u.CacheRead + u.CacheWrite }

// UsageOf returns the usage that is stored with an element.
func UsageOf(e *events.Element) (u Usage, ok bool) {
	v, ok := e.Metadata().Value(MetadataUsage)
	return u, ok && json.Unmarshal(v, &u) == nil
}

// WithUsage returns md with usage.
func WithUsage(md events.Metadata, u Usage) events.Metadata {
	v, err := json.Marshal(u)
	if err != nil {
		return md // numbers and a name: it does not happen
	}
	return md.With(MetadataUsage, jsontext.Value(v))
}

// A Sent is what is kept of a request, so that the next one can tell whether the provider
// still has its prompt.
type Sent struct {
	At     time.Time `json:"at"`
	Model  string    `json:"model"`
	Prefix string    `json:"prefix"` // digest of the system prompt and what voids it
	Tools  string    `json:"tools"`  // digest of the tools
	// Lifetime is how many seconds the cache was to keep it, 0 where it is not known.
	Lifetime int64 `json:"lifetime,omitempty"`
	// Size is how many tokens the conversation in it was guessed to have, by what was measured:
	// what usage tells later is of that text, whatever becomes of the conversation.
	Size int64 `json:"size,omitempty"`
}

// Same reports whether two requests begin with the same bytes, to the same model.
func (s Sent) Same(o Sent) bool {
	return s.Model == o.Model && s.Prefix == o.Prefix && s.Tools == o.Tools
}

// WithSent returns md with a request.
func WithSent(md events.Metadata, s Sent) events.Metadata {
	v, err := json.Marshal(s)
	if err != nil {
		return md // a time out of range: nothing is kept
	}
	return md.With(MetadataSent, jsontext.Value(v))
}

// SentOf returns the request that is stored with an element.
func SentOf(e *events.Element) (s Sent, ok bool) {
	v, ok := e.Metadata().Value(MetadataSent)
	return s, ok && json.Unmarshal(v, &s) == nil
}

// LastSent returns the request that was sent last, of those that are known.
func LastSent(s *events.Stream) (Sent, bool) {
	for i := s.Len() - 1; i >= 0; i-- {
		if sent, ok := SentOf(s.At(i)); ok {
			return sent, true
		}
	}
	return Sent{}, false
}
