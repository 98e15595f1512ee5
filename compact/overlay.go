package compact

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
)

// A Policy is a rule of jp's compaction overlay: it leaves out parts of some turns.
type Policy struct {
	Reasoning bool
	Tools     *events.ToolCallPolicy
	Summarize bool
	// From and To are the turns. Ranged reports whether they were given by the user; otherwise they
	// are all turns except those at the ends that a rule spares.
	From, To events.Bound
	Ranged   bool
}

// Spared returns the turns that a rule applies to by default: all but the given numbers of first
// and last turns.
func Spared(first, last int) (from, to events.Bound) {
	return events.AtTurn(max(first, 0)), events.FromEnd(max(last, 0))
}

// DefaultPolicy is jp's: no reasoning and no tool calls, in all turns but the first and the last.
func DefaultPolicy() Policy {
	p := Policy{Reasoning: true, Tools: &events.ToolCallPolicy{Request: true, Response: true}}
	p.From, p.To = Spared(1, 1)
	return p
}

var (
	errNoPolicy = errors.New("it names no policy")
	errTools    = errors.New(
		"tools are stripped, strip-requests, strip-responses or omitted")
)

// ParsePolicy reads POLICIES[:RANGE] as jp does: "r", "s" and "t", or their long names, joined by
// "+", with values such as "t=omit".
func ParsePolicy(spec string) (Policy, error) {
	words, turns, ranged := strings.Cut(spec, ":")
	p := DefaultPolicy()
	p.Reasoning, p.Tools = false, nil
	for word := range strings.SplitSeq(words, "+") {
		name, value, _ := strings.Cut(word, "=")
		var err error
		switch {
		case (name == "r" || name == "reasoning") && value == "":
			p.Reasoning = true
		case (name == "s" || name == "summarize") && value == "":
			p.Summarize = true
		case name == "t" || name == "tools":
			p.Tools, err = ParseTools(value)
		default:
			err = fmt.Errorf("%q: %w", word, errNoPolicy)
		}
		if err != nil {
			return Policy{}, fmt.Errorf("parse %q: %w", spec, err)
		}
	}
	if !ranged {
		return p, nil
	}
	var err error
	p.Ranged = true
	if p.From, p.To, err = events.ParseCompactRange(turns); err != nil {
		return Policy{}, fmt.Errorf("parse %q: %w", spec, err)
	}
	return p, nil
}

// ParseTools parses the parts to remove from tool calls: "strip", "strip-requests",
// "strip-responses" or "omit", or their short forms; "" is "strip".
func ParseTools(word string) (*events.ToolCallPolicy, error) {
	switch word {
	case "", "strip", "s":
		return &events.ToolCallPolicy{Request: true, Response: true}, nil
	case "strip-requests", "sreq":
		return &events.ToolCallPolicy{Request: true}, nil
	case "strip-responses", "sres":
		return &events.ToolCallPolicy{Response: true}, nil
	case "omit", "o":
		return &events.ToolCallPolicy{Omit: true}, nil
	default:
		return nil, fmt.Errorf("%q: %w", word, errTools)
	}
}

// An Overlay writes compactions, which remove nothing.
type Overlay struct {
	Now        time.Time
	Summarizer Summarizer // nil for a summary by rules
	Options    Options    // to read content, and to judge the size of a summary
}

// Apply appends the compactions of each policy to a copy of the stream, and returns them. A policy
// that selects no turns has none. Every policy leaves out turns with pinned elements, and one that
// affects calls leaves out turns in which a person commented on a call.
func (o Overlay) Apply(
	ctx context.Context, s *events.Stream, policies []Policy,
) (*events.Stream, []*events.Compaction, error) {
	out := s.Clone()
	var made []*events.Compaction
	for _, p := range policies {
		turns, ok := out.ResolveRange(p.From, p.To)
		if !ok {
			continue
		}
		held := withPinned(out)
		starts := out.Turns()
		free := apart(turns, func(n int) bool { return held[out.At(starts[n].First)] })
		for _, part := range free {
			all, err := o.compactions(ctx, out, p, part)
			if err != nil {
				return nil, nil, err
			}
			for _, c := range all {
				out.Append(events.NewElement(o.Now, c, events.Metadata{}))
			}
			made = append(made, all...)
		}
	}
	return out, made, nil
}

// apart returns the ranges of turns between those that are left out.
func apart(turns events.Range, out func(turn int) bool) (all []events.Range) {
	for from := turns.From; from <= turns.To; from++ {
		to := from
		for to <= turns.To && !out(to) {
			to++
		}
		if to > from {
			all = append(all, events.Range{From: from, To: to - 1})
		}
		from = to
	}
	return all
}

// compactions returns the compactions of a policy for some turns: one, or several if calls of some
// turns must be kept because a person commented on them.
func (o Overlay) compactions(
	ctx context.Context, s *events.Stream, p Policy, turns events.Range,
) ([]*events.Compaction, error) {
	if p.Summarize {
		turns = s.ExtendForSummary(turns)
		text, err := o.summary(ctx, s, turns)
		if err != nil {
			return nil, err
		}
		return []*events.Compaction{{
			FromTurn: turns.From, ToTurn: turns.To, Summary: &text,
			StripReasoning: p.Reasoning, ToolCalls: p.Tools,
		}}, nil
	}
	whole := &events.Compaction{
		FromTurn: turns.From, ToTurn: turns.To, StripReasoning: p.Reasoning, ToolCalls: p.Tools,
	}
	silent := o.silent(s, p, turns)
	if len(silent) == 1 && silent[0] == turns {
		return []*events.Compaction{whole}, nil
	}
	var all []*events.Compaction
	if p.Reasoning {
		whole.ToolCalls = nil
		all = append(all, whole)
	}
	for _, r := range silent {
		all = append(all, &events.Compaction{FromTurn: r.From, ToTurn: r.To, ToolCalls: p.Tools})
	}
	return all, nil
}

// silent returns the ranges of turns whose calls a policy may affect: those in which no result
// holds a person's words.
func (o Overlay) silent(s *events.Stream, p Policy, turns events.Range) []events.Range {
	if p.Tools == nil {
		return []events.Range{turns}
	}
	spoken := map[int]bool{}
	persons, of := listen(s, o.Options.Contents), s.TurnOf()
	for _, c := range s.Calls() {
		if in := invocation(s, c); in.Result != nil && persons.holds(in.Result) {
			spoken[of[c.Request]], spoken[of[c.Response]] = true, true
		}
	}
	return apart(turns, func(n int) bool { return spoken[n] })
}

// ErrRefused reports a summary that is worse than the text that it would replace.
var ErrRefused = errors.New("the summary is refused")

// summary returns a summary of the original events of some turns.
func (o Overlay) summary(ctx context.Context, s *events.Stream, r events.Range) (string, error) {
	of := s.TurnOf()
	var raw []*events.Element
	for i, e := range s.All() {
		if e.Kind().IsEvent() && r.From <= of[i] && of[i] <= r.To {
			raw = append(raw, e)
		}
	}
	j := &job{Options: o.Options.withDefaults(), source: s, stream: s}
	if o.Summarizer != nil {
		j.Summarizer = o.Summarizer
	}
	said, carried := j.original(raw)
	p := Passage{Events: said, Facts: FactsOf(said, j.Contents), Contents: j.Contents}
	d, _, refused, err := j.draft(ctx, p)
	if err == nil && refused != "" {
		err = fmt.Errorf("%w: %s", ErrRefused, refused)
	}
	if err != nil {
		return "", fmt.Errorf("summarize turns %d to %d: %w", r.From+1, r.To+1, err)
	}
	text := summaryText(d, p, carried)
	if size, err := measure(events.New(raw...), j.sized()); err != nil {
		return "", err
	} else if j.estimator.tokens(SortAnswer, int64(len(text))) >= size.Tokens {
		return "", fmt.Errorf("summarize turns %d to %d: %w: it is not smaller",
			r.From+1, r.To+1, ErrRefused)
	}
	return text, nil
}
