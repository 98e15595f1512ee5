package compact

import (
	"context"
	"fmt"
	"strings"
)

// auto runs strategies from the least loss to the greatest, and stops at the goal. Every step
// reports why it ran or did not.
func (j *job) auto(ctx context.Context) error {
	j.report.Goal, _ = j.goal()
	steps := []struct{ name, why string }{
		{StripReasoning, "what the model thought is of no use to it later"},
		{DedupTools, "a later call has what these had"},
		{StripToolResults, "results can be asked for again"},
		{PruneTools, "what was never called need not be described"},
	}
	j.decided, j.gentle = true, true
	defer func() { j.decided, j.gentle = false, false }()
	after := j.later
	j.later = append([]string{StripToolResults}, after...)
	defer func() { j.later = after }()
	for _, s := range steps {
		if j.Budget > 0 && j.size.Tokens <= float64(j.Budget) {
			j.report.skip(s.name, "the goal of "+tokens(float64(j.Budget))+" is reached")
			continue
		}
		if err := j.apply(ctx, s.name, s.why); err != nil {
			return err
		}
	}
	if err := j.autoStrip(ctx); err != nil {
		return err
	}
	return j.autoSummarize(ctx)
}

// autoStrip strips the results of tools without a hint, if the goal is not reached otherwise. If
// the window would still overflow it also strips the last reads of files, which is a separate step
// because later edits quote from them.
func (j *job) autoStrip(ctx context.Context) error {
	j.decided = false
	goal, known := j.goal()
	if !known || j.size.Tokens <= goal {
		return nil
	}
	err := j.apply(ctx, StripToolResults,
		"the goal is not reached: results of tools without a hint too")
	if err != nil || j.Window == 0 || j.size.Tokens <= float64(j.Window) {
		return err
	}
	j.gentle = false
	return j.apply(ctx, StripToolResults,
		"the model's window would overflow: the last reads of files too")
}

// goal returns the size at which auto stops, or false if neither a budget nor the window is known.
func (o Options) goal() (float64, bool) {
	if o.Budget > 0 {
		return float64(o.Budget), true
	}
	share, most := o.Threshold*float64(o.Window), float64(o.Most)
	if most > 0 && (o.Window == 0 || most < share) {
		return most, true
	}
	return share, o.Window > 0
}

// autoSummarize summarizes a conversation that is still too large.
func (j *job) autoSummarize(ctx context.Context) error {
	goal, known := j.goal()
	switch {
	case !known:
		j.report.skip(Summarize, "the model's window is not known and there is no budget")
		return nil
	case j.size.Tokens <= goal:
		j.report.skip(Summarize, fmt.Sprintf("%s are within the goal of %s",
			tokens(j.size.Tokens), tokens(goal)))
		return nil
	}
	return j.apply(ctx, Summarize, fmt.Sprintf("%s are still above the goal of %s",
		tokens(j.size.Tokens), tokens(goal)))
}

// skip records a step that did not run.
func (r *Report) skip(name, reason string) {
	r.Steps = append(r.Steps, Step{
		Strategy: name, Reason: "not needed: " + reason, Tools: []ToolSaving{},
	})
}

// tokens formats a number of tokens for people.
func tokens(n float64) string {
	digits := fmt.Sprintf("%.0f", n)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(d)
	}
	return b.String() + " tokens"
}
