package compact

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
)

// dedupTools removes calls that a later one repeats or subsumes, with their results. A call that
// replaces a removed one is kept, even if another call would replace it.
func (j *job) dedupTools(ctx context.Context, step *Step) error {
	limit := j.closed()
	gone, stands := map[int]bool{}, map[int]bool{}
	persons := listen(j.stream, j.Contents)
	at := map[int]events.Call{}
	drop := func(c events.Call) bool {
		if c.Open() || c.Response >= limit || !j.Hint(c.Name).Dedup || stands[c.Response] {
			return false
		}
		gone[c.Request], gone[c.Response] = true, true
		return true
	}
	shown := j.shown()
	calls := slices.DeleteFunc(persons.mute(j.stream, j.stream.Calls()), func(c events.Call) bool {
		return !shown(j.stream.At(c.Request)) || !c.Open() && !shown(j.stream.At(c.Response))
	})
	for _, c := range calls {
		at[c.Response] = c
	}
	search := j.search(persons)
	search.Rules = persons.spare(j.repeats)
	for _, found := range dedup.FindSuperseded(j.stream, search) {
		if c, ok := at[found.Element]; ok && found.Block < 0 && drop(c) {
			stands[found.By] = true
		}
	}
	declared, err := j.asserted(ctx, calls, gone, step)
	if err != nil {
		return err
	}
	for _, c := range declared {
		drop(c)
	}
	j.revise(nil, gone)
	return nil
}

// repeats returns the rules by which calls of a tool repeat or subsume each other.
func (o Options) repeats(tool string) []dedup.Rule {
	all, hint := dedup.Rules(), o.Hint(tool)
	rules := []dedup.Rule{all["same"]}
	if hint.Dedup && !hint.Alike {
		rules = append(rules, all["exact"])
	}
	return append(rules, o.subsumption(tool)...)
}

// subsumption returns the rule by which calls of a tool subsume each other. Calls that write a file
// are never removed, and show content that other calls read.
func (o Options) subsumption(tool string) []dedup.Rule {
	name := cmp.Or(o.Hint(tool).Subsumes, ioContent)
	for _, r := range o.Rules(tool) {
		if r.Name == name {
			return []dedup.Rule{r}
		}
	}
	if r, ok := dedup.Rules()[name]; ok && o.Hint(tool).Subsumes != "" {
		return []dedup.Rule{r}
	}
	return nil // also for "none", and for "tool", which the tool itself answers
}

// shown returns a function that reports whether a model is given an element unchanged: a compaction
// overlay may hide or replace it.
func (j *job) shown() func(*events.Element) bool { return given(j.stream.Project().Stream) }

// given returns a function that reports whether an element is in a stream.
func given(s *events.Stream) func(*events.Element) bool {
	all := map[*events.Element]bool{}
	for _, e := range s.All() {
		all[e] = true
	}
	return func(e *events.Element) bool { return all[e] }
}

// search returns the search for content that can be left out of the stream because the model is
// given it later.
func (j *job) search(persons listener) dedup.Search {
	return dedup.Search{
		Rules: persons.spare(j.Rules), Contents: j.Contents, Shown: j.shown(), Stays: j.stays(),
	}
}

// stays returns a function that reports whether later strategies of the pipeline keep a result, or
// the attachments of a request. A result that they remove cannot replace another.
func (j *job) stays() func(element int) bool {
	limit := j.limit()
	stripped := map[int]bool{}
	if slices.Contains(j.later, StripToolResults) || slices.Contains(j.later, Auto) {
		_, goal := j.goal()
		for _, c := range j.strippable(j.decided && !goal) {
			stripped[c.Response] = true
		}
	}
	detached := slices.Contains(j.later, StripAttachments)
	return func(i int) bool {
		request := j.stream.At(i).Kind() == events.KindChatRequest
		return !stripped[i] && (!request || !detached || i >= limit)
	}
}

// invocation returns a call in the form that rules read.
func (j *job) invocation(c events.Call) dedup.Invocation {
	in := invocation(j.stream, c)
	in.Contents = j.Contents
	return in
}

func invocation(s *events.Stream, c events.Call) dedup.Invocation {
	in := dedup.Invocation{Tool: c.Name}
	if r, ok := s.At(c.Request).Event().(*events.ToolCallRequest); ok {
		in.Arguments = r.Arguments
	}
	if !c.Open() {
		in.Result, _ = s.At(c.Response).Event().(*events.ToolCallResponse)
	}
	return in
}

// maxAsked is how many later calls of a tool are compared with a call: each comparison starts a
// process.
const maxAsked = 16

// asserted returns the calls that their own tool declares to be subsumed. Declarations that the
// content contradicts are reported, and if the content proves a tool wrong, all its declarations
// are ignored.
func (j *job) asserted(
	ctx context.Context, calls []events.Call, gone map[int]bool, step *Step,
) ([]events.Call, error) {
	if j.Subsumer == nil {
		return nil, nil
	}
	byTool := map[string][]events.Call{}
	for _, c := range calls {
		if j.Hint(c.Name).Subsumes == "tool" && !c.Open() {
			byTool[c.Name] = append(byTool[c.Name], c)
		}
	}
	var all []events.Call
	for _, tool := range slices.Sorted(maps.Keys(byTool)) {
		w := witness{job: j, calls: byTool[tool]}
		wrong, err := w.refuted(ctx)
		if err != nil {
			return nil, err
		}
		if wrong != "" {
			step.Notes = append(step.Notes, wrong)
			continue
		}
		found, err := w.subsumed(ctx, gone, step)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// subsumed returns the calls of one tool that the tool declares to be subsumed by a later one.
func (w witness) subsumed(
	ctx context.Context, gone map[int]bool, step *Step,
) (all []events.Call, err error) {
	var later []events.Call
	for _, c := range slices.Backward(w.calls) {
		if gone[c.Request] {
			continue
		}
		by, err := w.ask(ctx, c, later)
		if err != nil {
			return nil, err
		}
		if by != nil {
			why := w.contradicts(c, *by)
			if why == "" {
				all = append(all, c)
				continue
			}
			step.Notes = append(step.Notes, why)
		}
		if !invocation(w.job.stream, c).Result.IsError && len(later) < maxAsked {
			later = append(later, c)
		}
	}
	return all, nil
}

// ask returns the first of some later calls that subsumes c according to the tool.
func (w witness) ask(
	ctx context.Context, c events.Call, later []events.Call,
) (*events.Call, error) {
	earlier := invocation(w.job.stream, c)
	for i := range later {
		yes, err := w.job.Subsumer.Subsumes(
			ctx, c.Name, earlier.Arguments, invocation(w.job.stream, later[i]).Arguments)
		if err != nil {
			return nil, err
		}
		if yes {
			return &later[i], nil
		}
	}
	return nil, nil
}

// A witness compares the declarations of a tool with its results.
type witness struct {
	job   *job
	calls []events.Call // of the tool, with a result
}

// contradicts returns why a later call cannot subsume an earlier one, or "": the earlier one
// returned a resource, or lines of it, that the later one lacks.
func (w witness) contradicts(earlier, later events.Call) string {
	a, b := w.job.invocation(earlier), w.job.invocation(later)
	if !named(a.Result) {
		return ""
	}
	read := dedup.Rules()[ioContent].Read
	before, ok := read(a)
	if !ok {
		return ""
	}
	after, _ := read(b)
	for n, c := range before {
		if !slices.ContainsFunc(after, func(l dedup.Claim) bool { return l.Covers(c) }) {
			return disputed(a, b, "the later result has no "+nameOf(&a.Result.Blocks[n]))
		}
	}
	return ""
}

func named(r *events.ToolCallResponse) bool {
	return slices.ContainsFunc(r.Blocks, func(b events.Block) bool { return b.Resource != nil })
}

func nameOf(b *events.Block) string {
	if b.Resource != nil {
		return b.Resource.URI
	}
	return "such " + string(b.Type)
}

// maxBetween is how many calls between two equal ones are checked.
const maxBetween = 4

// refuted looks for a declaration that the results of a tool prove wrong: a call was made twice
// with the same result, and the tool declares that a call in between subsumes it although that
// lacks part of the result.
func (w witness) refuted(ctx context.Context) (string, error) {
	exact := dedup.Rules()["exact"]
	last := map[string]int{}
	for n, c := range w.calls {
		a := invocation(w.job.stream, c)
		claims, ok := exact.Read(a)
		if !ok {
			continue
		}
		key := claims[0].Key
		before, seen := last[key]
		last[key] = n
		if !seen || !sameContent(a, invocation(w.job.stream, w.calls[before])) {
			continue
		}
		for _, between := range w.calls[max(before+1, n-maxBetween):n] {
			why, err := w.lacks(ctx, w.calls[before], between)
			if err != nil || why != "" {
				return why, err
			}
		}
	}
	return "", nil
}

// lacks returns why the tool is wrong to declare that a call subsumes an earlier one, or "" if it
// does not declare so or is right.
func (w witness) lacks(ctx context.Context, earlier, later events.Call) (string, error) {
	a, b := invocation(w.job.stream, earlier), invocation(w.job.stream, later)
	if b.Result.IsError {
		return "", nil
	}
	yes, err := w.job.Subsumer.Subsumes(ctx, a.Tool, a.Arguments, b.Arguments)
	if err != nil || !yes {
		return "", err
	}
	before, err1 := a.Result.Text(w.job.Contents)
	after, err2 := b.Result.Text(w.job.Contents)
	if err1 != nil || err2 != nil {
		return "", nil // contents that are not here prove nothing
	}
	lines := map[string]bool{}
	for line := range strings.Lines(after) {
		lines[strings.TrimSpace(line)] = true
	}
	for line := range strings.Lines(before) {
		if !lines[strings.TrimSpace(line)] {
			return disputed(a, b, "the later result lacks lines that were still there after it;"+
				" its words are not counted"), nil
		}
	}
	return "", nil
}

// sameContent compares results by the hashes of their content.
func sameContent(a, b dedup.Invocation) bool {
	return slices.EqualFunc(a.Result.Blocks, b.Result.Blocks, func(x, y events.Block) bool {
		return contentOf(&x).Ref() == contentOf(&y).Ref()
	})
}

func disputed(a, b dedup.Invocation, why string) string {
	return fmt.Sprintf("%s says that %s is subsumed by %s, but %s",
		a.Tool, a.Arguments, b.Arguments, why)
}
