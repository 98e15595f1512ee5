package compact

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
)

// dedupTools takes out calls that a later one repeats or subsumes, with their results.
func (j *job) dedupTools(ctx context.Context, step *Step) error {
	limit := j.closed()
	gone := map[int]bool{}
	persons := listen(j.stream, j.Contents)
	calls := persons.mute(j.stream, j.stream.Calls())
	drop := func(c events.Call) {
		if !c.Open() && c.Response < limit && j.Hint(c.Name).Dedup {
			gone[c.Request], gone[c.Response] = true, true
		}
	}
	for _, c := range repeated(j.stream, calls) {
		drop(c)
	}
	at := map[int]events.Call{}
	for _, c := range calls {
		at[c.Response] = c
	}
	for _, found := range dedup.FindSuperseded(j.stream, persons.spare(j.subsumption)) {
		if c, ok := at[found.Element]; ok && found.Block < 0 {
			drop(c)
		}
	}
	declared, err := j.declared(ctx, calls, gone, step)
	if err != nil {
		return err
	}
	for _, c := range declared {
		drop(c)
	}
	j.revise(nil, gone)
	return nil
}

// subsumption returns the rule by which calls of a tool subsume each other.
func (j *job) subsumption(tool string) []dedup.Rule {
	if r, ok := dedup.Rules()[j.Hint(tool).Subsumes]; ok {
		return []dedup.Rule{r}
	}
	// What writes a file is no call that could go, and shows what others read.
	for _, r := range DefaultRules(tool) {
		if r.Name == "io-content" {
			return []dedup.Rule{r}
		}
	}
	return nil
}

// repeated returns the calls that a later call with equal arguments replaces. One that failed
// replaces only what failed.
func repeated(s *events.Stream, calls []events.Call) []events.Call {
	exact := dedup.Rules()["exact"]
	worked, failed := map[string]bool{}, map[string]bool{}
	var all []events.Call
	for n := len(calls) - 1; n >= 0; n-- {
		c := calls[n]
		if c.Open() {
			continue
		}
		in := invocation(s, c)
		claim, ok := exact.Read(in)
		if !ok {
			continue
		}
		if worked[claim.Key] || in.Result.IsError && failed[claim.Key] {
			all = append(all, c)
			continue
		}
		if in.Result.IsError {
			failed[claim.Key] = true
		} else {
			worked[claim.Key] = true
		}
	}
	return all
}

// invocation returns a call as rules read it.
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

// maxAsked is how many later calls of its tool a call is held against: asking starts a
// process.
const maxAsked = 16

// declared returns the calls that their own tool says are subsumed. What the contents
// contradict is reported; where they prove a tool wrong, none of its words count.
func (j *job) declared(
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

// subsumed returns the calls of one tool that it says a later one subsumes.
func (w witness) subsumed(
	ctx context.Context, gone map[int]bool, step *Step,
) (all []events.Call, err error) {
	var later []events.Call
	for _, c := range slices.Backward(w.calls) {
		if gone[c.Request] {
			continue
		}
		by, err := w.job.ask(ctx, c, later)
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

// ask returns the first of some later calls of which the tool says that it subsumes c.
func (j *job) ask(ctx context.Context, c events.Call, later []events.Call) (*events.Call, error) {
	earlier := invocation(j.stream, c)
	for i := range later {
		yes, err := j.Subsumer.Subsumes(
			ctx, c.Name, earlier.Arguments, invocation(j.stream, later[i]).Arguments)
		if err != nil {
			return nil, err
		}
		if yes {
			return &later[i], nil
		}
	}
	return nil, nil
}

// A witness holds what a tool says against what it returned.
type witness struct {
	job   *job
	calls []events.Call // of the tool, with a result
}

// contradicts returns why a later call cannot subsume an earlier one, "" when nothing speaks
// against it: the earlier one returned a resource that the later one lacks.
func (w witness) contradicts(earlier, later events.Call) string {
	a, b := invocation(w.job.stream, earlier), invocation(w.job.stream, later)
	has := map[string]bool{}
	for _, block := range b.Result.Blocks {
		if block.Resource != nil {
			has[whole(block.Resource.URI)] = true
		}
	}
	for _, block := range a.Result.Blocks {
		if block.Resource != nil && !has[whole(block.Resource.URI)] {
			return disputed(a, b, "the later result has no "+block.Resource.URI)
		}
	}
	return ""
}

// whole is a URI without the part that it names.
func whole(uri string) string {
	uri, _, _ = strings.Cut(uri, "#")
	return uri
}

// maxBetween is how many calls between two equal ones a tool is asked about.
const maxBetween = 4

// refuted looks for a word of the tool that its results prove wrong: a call that was made
// twice with one result, and in between another call, which the tool says subsumes it and
// which lacks some of that result.
func (w witness) refuted(ctx context.Context) (string, error) {
	exact := dedup.Rules()["exact"]
	last := map[string]int{}
	for n, c := range w.calls {
		a := invocation(w.job.stream, c)
		claim, ok := exact.Read(a)
		if !ok {
			continue
		}
		before, seen := last[claim.Key]
		last[claim.Key] = n
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

// lacks returns why the tool is wrong to say that a call subsumes an earlier one, "" when it
// does not say so or is right.
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
		return "", nil //nolint:nilerr // contents that are not here prove nothing
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

// sameContent compares results by the hashes of their contents.
func sameContent(a, b dedup.Invocation) bool {
	return slices.EqualFunc(a.Result.Blocks, b.Result.Blocks, func(x, y events.Block) bool {
		return contentOf(&x).Ref() == contentOf(&y).Ref()
	})
}

func disputed(a, b dedup.Invocation, why string) string {
	return fmt.Sprintf("%s says that %s is subsumed by %s, but %s",
		a.Tool, a.Arguments, b.Arguments, why)
}
