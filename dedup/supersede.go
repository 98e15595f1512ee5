package dedup

import (
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

// frontier is how many claims about one thing are remembered: it keeps the time linear where
// a thousand calls read a thousand places of one file. What is forgotten supersedes nothing.
const frontier = 64

// A Superseded is a result, or a resource of a request, that a later one makes obsolete.
type Superseded struct {
	Element int
	Block   int    // index of the resource in its request; -1 for a whole result
	By      int    // element of the later one, the last of Needs
	Needs   []int  // elements that have all of it together
	Tool    string // "" for a resource of a request
	Rule    string
}

// Search says what is looked for by [FindSuperseded].
type Search struct {
	// Rules returns the rules that understand a tool; a tool of no rule has no part in it.
	Rules    func(tool string) []Rule
	Contents blobs.Reader // reads what the stream refers to; nil reads nothing
	// Given reports whether the model is given the content of a resource; nil says that it is.
	Given func(*events.Resource) bool
	// Shown reports whether the model is given an element as it is; nil says so of all. What
	// something else stands for is neither superseded nor does it supersede.
	Shown func(*events.Element) bool
	// Stays reports whether the model will be given an element, by its index, when all is
	// done; nil says so of all. What will not supersedes nothing.
	Stays func(element int) bool
}

// FindSuperseded returns what later results make obsolete, in order. Time is linear in the
// calls.
//
// What is delivered as a reference is no content, so that what it refers to must not be
// counted as obsolete; see [Plan.Referents].
func FindSuperseded(s *events.Stream, o Search) []Superseded {
	f := superseder{
		Search: o, stream: s, seen: map[string][]known{}, calls: callsByResponse(s),
		there: map[int]bool{},
	}
	for i := s.Len() - 1; i >= 0; i-- {
		if !f.shown(s.At(i)) {
			continue
		}
		switch ev := s.At(i).Event().(type) {
		case *events.ToolCallResponse:
			f.result(i, ev)
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
	Search
	stream *events.Stream
	calls  map[int]events.Call
	seen   map[string][]known // by rule and key
	there  map[int]bool       // elements by whether the store has their contents
	found  []Superseded
}

// shown reports whether the model is given an element as it is.
func (f *superseder) shown(e *events.Element) bool {
	_, trimmed := e.Metadata().Value(Trimmed)
	if trimmed && e.Kind() == events.KindToolCallResponse {
		return false
	}
	return f.Shown == nil || f.Shown(e)
}

func (f *superseder) result(i int, r *events.ToolCallResponse) {
	call, ok := f.calls[i]
	if !ok || len(f.stream.At(i).Metadata().Stripped()) > 0 || !f.shown(f.stream.At(call.Request)) {
		return
	}
	request, ok := f.stream.At(call.Request).Event().(*events.ToolCallRequest)
	if !ok {
		return
	}
	in := Invocation{
		Tool: call.Name, Arguments: request.Arguments, Result: r, Contents: f.Contents,
		Given: f.Given,
	}
	claims := map[string][]Claim{}
	for _, rule := range f.Rules(call.Name) {
		all, ok := rule.Read(in)
		if !ok || len(all) == 0 {
			continue
		}
		if needs := f.covered(rule.Name, all); needs != nil {
			f.found = append(f.found, Superseded{
				Element: i, Block: -1, By: slices.Max(needs), Needs: needs, Tool: call.Name,
				Rule: rule.Name,
			})
			return
		}
		claims[rule.Name] = all
	}
	// What goes supersedes nothing itself, so that it is remembered only now.
	for rule, all := range claims {
		for _, c := range all {
			f.remember(rule, known{c, i})
		}
	}
}

func (f *superseder) attached(i, n int, r *events.Resource) {
	const rule = "io-content" // what is attached is read as a file is
	if r.URI == "" || slices.Contains(trimmedBlocks(f.stream.At(i).Metadata()), n) {
		return
	}
	claim := delivers(r, f.Given, f.Contents)
	if needs := f.covered(rule, []Claim{claim}); needs != nil {
		f.found = append(f.found, Superseded{
			Element: i, Block: n, By: slices.Max(needs), Needs: needs, Rule: rule,
		})
		return
	}
	f.remember(rule, known{claim, i})
}

// covered returns the elements that cover claims, nil when one is not covered.
func (f *superseder) covered(rule string, claims []Claim) (needs []int) {
	for _, c := range claims {
		n := slices.IndexFunc(f.seen[rule+"\x00"+c.Key], func(later known) bool {
			return later.Covers(c) && f.present(later.element)
		})
		if n < 0 {
			return nil
		}
		needs = append(needs, f.seen[rule+"\x00"+c.Key][n].element)
	}
	slices.Sort(needs)
	return slices.Compact(needs)
}

// remember enters a claim.
func (f *superseder) remember(rule string, k known) {
	if !k.Gives || f.Stays != nil && !f.Stays(k.element) {
		return
	}
	at := rule + "\x00" + k.Key
	// What this one covers it stands for from now on, towards still earlier ones.
	kept := slices.DeleteFunc(f.seen[at], func(later known) bool { return k.Covers(later.Claim) })
	if len(kept) < frontier {
		kept = append(kept, k)
	}
	f.seen[at] = kept
}

// present reports whether the contents of an element can be given at all.
func (f *superseder) present(i int) bool {
	if f.Contents == nil {
		return true
	}
	there, known := f.there[i]
	if known {
		return there
	}
	there = true
	for c := range events.New(f.stream.At(i)).Contents() {
		if _, err := c.Content.Bytes(f.Contents); err != nil {
			there = false
		}
	}
	f.there[i] = there
	return there
}

// Referents returns the places that deliveries refer to: what stands there must stay.
func (p *Plan) Referents() map[Place]bool {
	all := map[Place]bool{}
	for _, d := range p.short {
		all[d.Referent] = true
	}
	return all
}
