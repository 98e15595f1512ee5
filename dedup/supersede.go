package dedup

import (
	"slices"

	"github.com/git-jp/git-jp/events"
)

// frontier is how many claims about one thing are remembered: it keeps the time linear where
// a thousand calls read a thousand places of one file. What is forgotten supersedes nothing.
const frontier = 64

// A Superseded is a result, or a resource of a request, that a later one makes obsolete.
type Superseded struct {
	Element int
	Block   int    // index of the resource in its request; -1 for a whole result
	By      int    // element of the later one
	Tool    string // "" for a resource of a request
	Rule    string
}

// FindSuperseded returns what later results make obsolete, in order. Rules returns those that
// understand a tool; a tool of no rule has no part in it. Time is linear in the calls.
//
// What is delivered as a reference is no content, so that what it refers to must not be
// counted as obsolete; see [Plan.Referents].
func FindSuperseded(s *events.Stream, rules func(tool string) []Rule) []Superseded {
	f := superseder{rules: rules, seen: map[string][]known{}, calls: callsByResponse(s)}
	for i := s.Len() - 1; i >= 0; i-- {
		switch ev := s.At(i).Event().(type) {
		case *events.ToolCallResponse:
			f.result(s, i, ev)
		case *events.ChatRequest:
			for n := len(ev.Resources) - 1; n >= 0; n-- {
				f.attached(i, n, &ev.Resources[n])
			}
		}
	}
	slices.Reverse(f.found)
	return f.found
}

// known is a claim of a later call.
type known struct {
	Claim
	element int
}

// A superseder goes through a stream from its end.
type superseder struct {
	rules func(tool string) []Rule
	calls map[int]events.Call
	seen  map[string][]known // by rule and key
	found []Superseded
}

func (f *superseder) result(s *events.Stream, i int, r *events.ToolCallResponse) {
	call, ok := f.calls[i]
	if !ok {
		return
	}
	request, ok := s.At(call.Request).Event().(*events.ToolCallRequest)
	if !ok {
		return
	}
	in := Invocation{Tool: call.Name, Arguments: request.Arguments, Result: r}
	for _, rule := range f.rules(call.Name) {
		claim, ok := rule.Read(in)
		if !ok {
			continue
		}
		if by := f.enter(rule.Name, known{claim, i}); by >= 0 {
			f.found = append(f.found, Superseded{
				Element: i, Block: -1, By: by, Tool: call.Name, Rule: rule.Name,
			})
			return
		}
	}
}

func (f *superseder) attached(i, n int, r *events.Resource) {
	const rule = "io-content" // what is attached is read as a file is
	claim, ok := delivers(r)
	if !ok {
		return
	}
	if by := f.enter(rule, known{claim, i}); by >= 0 {
		f.found = append(f.found, Superseded{Element: i, Block: n, By: by, Rule: rule})
	}
}

// enter remembers a claim. It returns the element of a later one that covers it, -1 for none.
func (f *superseder) enter(rule string, k known) int {
	at := rule + "\x00" + k.Key
	for _, later := range f.seen[at] {
		if later.Covers(k.Claim) {
			return later.element
		}
	}
	if !k.Gives {
		return -1
	}
	// What this one covers it stands for from now on, towards still earlier ones.
	kept := slices.DeleteFunc(f.seen[at], func(later known) bool { return k.Covers(later.Claim) })
	if len(kept) < frontier {
		kept = append(kept, k)
	}
	f.seen[at] = kept
	return -1
}

// Referents returns the places that deliveries refer to: what stands there must stay.
func (p *Plan) Referents() map[Place]bool {
	all := map[Place]bool{}
	for _, d := range p.short {
		all[d.Referent] = true
	}
	return all
}
