package query

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
)

// A CrowdedError says that a request does not fit the model's window even without everything that
// the model could do without. Events up to then are saved.
type CrowdedError struct {
	Model   string
	Tokens  float64
	Window  int64
	Largest []compact.Item
	Err     error // of the provider, nil if it was not asked
}

// Error implements error.
func (e *CrowdedError) Error() string {
	var items []string
	for _, i := range e.Largest {
		items = append(items, fmt.Sprintf("%s: about %.0f", i.What, i.Tokens))
	}
	return fmt.Sprintf("the conversation does not fit the window of %s: about %.0f tokens of %d;"+
		" the largest are %s", e.Model, e.Tokens, e.Window, strings.Join(items, ", "))
}

// Unwrap returns the provider's error.
func (e *CrowdedError) Unwrap() error { return e.Err }

const (
	lastCalls    = 3 // how many last calls keep their results
	largestItems = 3 // how many are named
	maxOverflows = 3 // in one turn, after which the provider is not asked again
)

// makeRoom removes from a stream what the next request has beyond the window, and reports whether
// it removed anything: first old results of the turn that the request continues, then earlier
// turns, which a summary replaces. [planner.trim] has removed superseded and outdated results
// before.
func (p *planner) makeRoom(stream *events.Stream) (bool, error) {
	if p.Trim == nil {
		return false, nil
	}
	did := false
	for _, take := range []func(*events.Stream, *events.Stream, crowd) (bool, error){
		p.takeResults, p.summarizeEarlier,
	} {
		view, c, err := p.crowd(stream)
		if err != nil || c.over <= 0 {
			return did, err
		}
		took, err := take(stream, view, c)
		did = did || took
		if err != nil {
			return did, err
		}
	}
	view, c, err := p.crowd(stream)
	if err != nil || c.over <= c.error && p.overflowed == nil || c.over <= 0 {
		return did, err // the provider may count less
	}
	return did, &CrowdedError{
		Model: p.Model.ID(), Tokens: c.tokens, Window: c.window,
		Largest: c.history.Largest(view, largestItems), Err: p.overflowed,
	}
}

// A crowd is the size of a request compared with the window.
type crowd struct {
	history compact.History
	options compact.ObsoleteOptions
	tokens  float64 // of the request
	over    float64 // of them beyond the window
	error   float64 // of the estimate, in tokens
	window  int64
}

func (p *planner) crowd(stream *events.Stream) (*events.Stream, crowd, error) {
	view := View(stream)
	window := p.window(view)
	if window == 0 || p.overflowed == nil && size(view) <= leastBytesPerToken*window {
		return view, crowd{}, nil
	}
	o := p.obsolete(stream)
	h, err := compact.HistoryOf(view, o)
	if err != nil {
		return view, crowd{}, fmt.Errorf("look for what to take out: %w", err)
	}
	c := crowd{history: h, options: o, window: window}
	pending, _ := h.Pending(false, false)
	c.tokens, c.over = pending.Prompt, pending.Prompt-float64(window)
	c.error = h.Estimator.Whole * c.tokens
	return view, c, nil
}

// takeResults removes results of the turn that the model can do without, oldest first, until the
// rest fits.
func (p *planner) takeResults(stream, view *events.Stream, c crowd) (bool, error) {
	at := map[*events.Element]int{}
	for i, e := range stream.All() {
		at[e] = i
	}
	n, freed := 0, 0.0
	for _, i := range c.history.Spare(view, lastCalls, c.options) {
		stored, ok := at[view.At(i)]
		if !ok || freed >= c.over {
			continue // an overlay replaces it
		}
		stream.Set(stored, dedup.WithoutResult(stream.At(stored)))
		n, freed = n+1, freed+c.history.Sizes[i]
	}
	if n > 0 {
		p.notices = append(p.notices, fmt.Sprintf("%d results of this turn are no longer sent"+
			" (about %.0f tokens): the request would not fit the model's window; 'git jp compact"+
			" --undo' restores them", n, freed))
	}
	return n > 0, nil
}

// summarizeEarlier adds an overlay with a summary of the turns before the last one. The summary is
// made without a model: one that is in the middle of its work would have to wait for another.
func (p *planner) summarizeEarlier(stream, _ *events.Stream, c crowd) (bool, error) {
	policy := compact.Policy{Summarize: true}
	policy.From, policy.To = compact.Spared(0, 1)
	_, made, err := compact.Overlay{Now: p.Now(), Options: compact.Options{
		Now: p.Now(), Contents: p.Record.Contents(), Dedup: p.Dedup,
	}}.Apply(context.Background(), stream, []compact.Policy{policy})
	if errors.Is(err, compact.ErrRefused) || len(made) == 0 {
		return false, nil // it would not be smaller, or there is nothing to summarize
	}
	if err != nil {
		return false, fmt.Errorf("summarize the turns before: %w", err)
	}
	for _, m := range made {
		stream.Append(events.NewElement(p.Now(), m, events.Metadata{}))
	}
	p.notices = append(p.notices, fmt.Sprintf("a summary is sent in place of the earlier turns:"+
		" the request would have about %.0f tokens too many; 'git jp compact --undo' gives them"+
		" back", c.over))
	return true, nil
}

// shrink reports whether a request that the provider found too large can be sent again, smaller. It
// sets the room for the request by the limit that the provider reports, or else to less than was
// sent.
func (p *planner) shrink(err error) bool {
	over, ok := errors.AsType[*llm.OverflowError](err)
	if !ok || p.Trim == nil || p.overflows >= maxOverflows {
		return false
	}
	p.overflows++
	p.overflowed = err
	view := View(p.Record.Stream())
	h, herr := compact.HistoryOf(view, p.obsolete(p.Record.Stream()))
	if herr != nil {
		return false
	}
	pending, _ := h.Pending(false, false)
	const less = 0.9
	room := less * pending.Prompt
	if over.Limit > 0 && over.Tokens > over.Limit { // in the provider's own tokens
		room = pending.Prompt * float64(over.Limit) / float64(over.Tokens)
	}
	p.room = int64(room)
	return true
}
