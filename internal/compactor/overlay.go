package compactor

import (
	"context"
	"errors"
	"slices"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/compaction"
	"github.com/git-jp/git-jp/internal/listing"
	"github.com/git-jp/git-jp/internal/prepare"
)

// Rules are the rules of an overlay.
type Rules struct {
	Policies []compact.Policy // none for the configured ones
	// From and To limit the rules that name no turns; nil keeps their own limits.
	From, To *events.Bound
	Model    string // for summaries, "" for the setting
}

// bounded returns the rules with their turns, or the configured rules if there are none.
func (r Rules) bounded(configured []compact.Policy) []compact.Policy {
	all := slices.Clone(r.Policies)
	if len(all) == 0 {
		all = configured
	}
	for i := range all {
		if all[i].Ranged {
			continue
		}
		if r.From != nil {
			all[i].From = *r.From
		}
		if r.To != nil {
			all[i].To = *r.To
		}
	}
	return all
}

// Overlay adds compactions that remove nothing. It reports whether the conversation was changed.
func (j Job) Overlay(ctx context.Context, rules Rules) (changed bool, err error) {
	r, err := j.open(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	policies := rules.bounded(compaction.Policies(r.Config))
	if j.DryRun && !j.Diff { // no summary is requested only to be thrown away
		for i, p := range policies {
			policies[i].Summarize, policies[i].Reasoning = false, p.Reasoning || p.Summarize
		}
	}
	wanted := j.confirming(prepare.Request{Model: rules.Model})
	out, made, err := r.Overlaid(ctx, wanted, j.Conversation.Stream, policies)
	if err != nil {
		return false, err
	}
	t := j.terminal()
	if len(made) == 0 {
		t.Note("nothing to compact")
		return false, nil
	}
	if j.Diff {
		return false, j.printStages(ctx, differing{r, rules.Model}, overlayStages(out, made), nil)
	}
	what := "compacted"
	if j.DryRun {
		what = "would compact"
	}
	for _, m := range made {
		t.Note("%s %s", what, listing.NewCompactionRecord(m))
	}
	return j.rewrite(ctx, out)
}

// rewrite saves another stream of the conversation, unless this is a dry run, and reports whether
// it did.
func (j Job) rewrite(ctx context.Context, s *events.Stream) (changed bool, err error) {
	if j.DryRun {
		return false, nil
	}
	return true, j.writer().Rewrite(ctx, s)
}

// overlayStages returns the stream after each compaction that an overlay appended.
func overlayStages(out *events.Stream, made []*events.Compaction) []compact.Stage {
	all := make([]compact.Stage, len(made))
	for i, m := range made {
		s, rest := out.Clone(), len(made)-1-i
		s.Remove(s.Len()-rest, rest)
		by := "overlay of " + listing.NewCompactionRecord(m).String()
		all[i] = compact.Stage{By: by, Stream: s}
	}
	return all
}
