package llm

import "cmp"

// Usage is the usage of an answer, in tokens.
type Usage struct {
	Input      int64 // read in full: neither read from a cache nor written to one
	Output     int64 // written, including reasoning
	CacheRead  int64
	CacheWrite int64
	Reasoning  int64  // the part of Output that was reasoning, if the provider reports it
	Model      string // as the provider names it
}

// Prompt returns the size of the complete prompt.
func (u Usage) Prompt() int64 { return u.Input + u.CacheRead + u.CacheWrite }

// Add returns the sum of two exchanges; the later one names the model.
func (u Usage) Add(v Usage) Usage {
	v.Model = cmp.Or(v.Model, u.Model)
	return Usage{
		Input: u.Input + v.Input, Output: u.Output + v.Output,
		CacheRead: u.CacheRead + v.CacheRead, CacheWrite: u.CacheWrite + v.CacheWrite,
		Reasoning: u.Reasoning + v.Reasoning, Model: v.Model,
	}
}

// mostTokens is more than any answer uses.
const mostTokens = 1 << 40

// plausible returns the usage without figures that are impossible, so that no sum becomes negative
// or overflows: a spending limit relies on sums.
func (u Usage) plausible() Usage {
	for _, n := range []*int64{&u.Input, &u.Output, &u.CacheRead, &u.CacheWrite, &u.Reasoning} {
		*n = min(max(*n, 0), mostTokens)
	}
	return u
}
