package llm

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// MetadataUsage is the key below which the [Usage] of a reply is kept in the metadata of
// its last event.
const MetadataUsage = "git_jp_usage"

// Usage is what an answer has cost, in tokens.
type Usage struct {
	Input      int64 // read in full: neither from a cache nor into one
	Output     int64 // written, with reasoning
	CacheRead  int64
	CacheWrite int64
	Reasoning  int64  // what of Output was reasoning, when the provider tells
	Model      string // as the provider names it
}

// Prompt returns the size of the whole prompt.
func (u Usage) Prompt() int64 { return u.Input + u.CacheRead + u.CacheWrite }

// Add returns the sum of two exchanges; the later one names the model.
func (u Usage) Add(v Usage) Usage {
	if v.Model == "" {
		v.Model = u.Model
	}
	return Usage{
		Input: u.Input + v.Input, Output: u.Output + v.Output,
		CacheRead: u.CacheRead + v.CacheRead, CacheWrite: u.CacheWrite + v.CacheWrite,
		Reasoning: u.Reasoning + v.Reasoning, Model: v.Model,
	}
}

// Value returns the form that is stored: an object with input, output, cache_read,
// cache_write, reasoning and model, without what is zero except for the first two.
func (u Usage) Value() jsontext.Value {
	b := strconv.AppendInt([]byte(`{"input":`), u.Input, 10)
	b = strconv.AppendInt(append(b, `,"output":`...), u.Output, 10)
	optional := func(name string, n int64) {
		if n != 0 {
			b = append(append(append(b, `,"`...), name...), `":`...)
			b = strconv.AppendInt(b, n, 10)
		}
	}
	optional("cache_read", u.CacheRead)
	optional("cache_write", u.CacheWrite)
	optional("reasoning", u.Reasoning)
	if u.Model != "" {
		b = append(b, `,"model":`...)
		b, _ = jsontext.AppendQuote(b, u.Model)
	}
	return append(b, '}')
}
