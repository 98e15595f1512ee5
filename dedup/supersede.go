package dedup

import (
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

// frontier bounds how many claims about one thing are remembered. It keeps the time linear if a
// thousand calls read a thousand parts of one file. A claim that is not remembered supersedes
// nothing.
const frontier = 64

// A Superseded is a result, or a resource of a request, that a later element makes obsolete.
type Superseded struct {
	Element int
	Block   int    // index of the resource in its request; -1 for an entire result
	By      int    // the last element of Needs
	Needs   []int  // elements that together have all of it
	Tool    string // "" for a resource of a request
	// Stale is the key of the file that By has changed if the result is out of date. It is "" if a
	// later result has everything that this one had.
	Stale string
}

// Search selects what [FindSuperseded] finds.
type Search struct {
	// Rules returns the rules for a tool; a tool without rules is ignored.
	Rules    func(tool string) []Rule
	Contents blobs.Reader // to read content; nil to read nothing
	// Shown reports whether the model is given an element unchanged; nil means always. An element
	// that something else replaces is neither superseded nor does it supersede.
	Shown func(*events.Element) bool
	// Stays reports whether the model will be given an element in the end, by index; nil means
	// always. An element that it will not be given supersedes nothing.
	Stays func(element int) bool
	// Stale reports whether reads of a file may be removed because the file was changed later, by
	// its key in claims; nil means never.
	Stale func(key string) bool
}

// FindSuperseded returns what later elements make obsolete, in order. Time is linear in the calls.
//
// A result that is delivered as a reference has no content itself, so the caller must not treat its
// referent as obsolete; see [Plan.Referents].
func FindSuperseded(s *events.Stream, o Search) []Superseded {
	f := superseder{
		Search: o, stream: s, seen: map[string][]known{}, calls: callsByResponse(s),
		there: map[int]bool{}, changed: map[string]int{},
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
	there  map[int]bool       // elements by whether their content is available
	// changed is the next call that changed a file, by the file's key.
	changed map[string]int
	found   []Superseded
}

// shown reports whether the model is given an element unchanged.
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
	}
	rules := f.Rules(call.Name)
	if found, goes := f.obsolete(i, rules, in); goes {
		f.found = append(f.found, found)
	}
	for _, rule := range rules {
		if rule.Changes == nil {
			continue
		}
		for _, key := range rule.Changes(in) {
			f.changed[key] = i
		}
	}
}

// obsolete returns the later results, or the write, that make a result obsolete. A result that is
// not obsolete is remembered; one that is supersedes nothing itself.
func (f *superseder) obsolete(i int, rules []Rule, in Invocation) (Superseded, bool) {
	claims := map[string][]Claim{}
	for _, rule := range rules {
		all, ok := rule.Read(in)
		if !ok || len(all) == 0 {
			continue
		}
		found := Superseded{Element: i, Block: -1, Tool: in.Tool}
		if f.replaced(&found, rule.Name, all) {
			return found, true
		}
		claims[rule.Name] = all
	}
	for rule, all := range claims {
		for _, c := range all {
			f.remember(rule, known{c, i})
		}
	}
	return Superseded{}, false
}

// replaced sets the elements that cover all of some claims, or the one that changed the file.
func (f *superseder) replaced(found *Superseded, rule string, claims []Claim) bool {
	found.Needs = f.covered(rule, claims)
	if found.Needs == nil && len(claims) == 1 && claims[0].Gives {
		key := claims[0].Key
		if by, changed := f.changed[key]; changed && f.Stale != nil && f.Stale(key) {
			found.Needs, found.Stale = []int{by}, key
		}
	}
	if found.Needs == nil {
		return false
	}
	found.By = slices.Max(found.Needs)
	return true
}

func (f *superseder) attached(i, n int, r *events.Resource) {
	const rule = "io-content" // an attachment is treated like a read of the file
	if r.URI == "" || slices.Contains(trimmedBlocks(f.stream.At(i).Metadata()), n) {
		return
	}
	claim := delivers(r, f.Contents)
	found := Superseded{Element: i, Block: n}
	if f.replaced(&found, rule, []Claim{claim}) {
		f.found = append(f.found, found)
		return
	}
	f.remember(rule, known{claim, i})
}

// covered returns the elements that cover the claims, or nil if one is not covered.
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

// remember remembers a claim.
func (f *superseder) remember(rule string, k known) {
	if !k.Gives || f.Stays != nil && !f.Stays(k.element) {
		return
	}
	at := rule + "\x00" + k.Key
	// It replaces the claims that it covers, for still earlier ones.
	kept := slices.DeleteFunc(f.seen[at], func(later known) bool { return k.Covers(later.Claim) })
	if len(kept) < frontier {
		kept = append(kept, k)
	}
	f.seen[at] = kept
}

// present reports whether the content of an element is available.
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

// Referents returns the places to which deliveries refer, which must be kept.
func (p *Plan) Referents() map[Place]bool {
	all := map[Place]bool{}
	for _, d := range p.short {
		for _, at := range d.Referents {
			all[at] = true
		}
	}
	return all
}
