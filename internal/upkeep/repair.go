package upkeep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/repair"
	"github.com/git-jp/git-jp/internal/report"
)

// A FaultRecord is something incomplete, in JSON.
type FaultRecord struct {
	State        string   `json:"state"`
	Path         string   `json:"path"`
	Conversation string   `json:"conversation"`
	Title        string   `json:"title"`
	Hash         string   `json:"hash"`
	Bytes        int64    `json:"bytes"`
	Detail       string   `json:"detail"`
	Action       string   `json:"action"`
	Remedy       string   `json:"remedy"`
	Command      string   `json:"command"`
	Holders      []string `json:"holders"`
	Error        string   `json:"error,omitempty"`
}

// A Repair completes what is incomplete in the working tree.
type Repair struct {
	repair.Options

	Terminal *ask.Terminal
	DryRun   bool
	Yes      bool // does not ask

	Unfetched bool // a remote that was named could not be fetched
}

// Fetch fetches the branches of remotes, all of them or those that are named. An unreachable remote
// stops nothing.
func (r *Repair) Fetch(ctx context.Context, named []string, all bool) error {
	if r.Repo == nil || !all && len(named) == 0 {
		return nil
	}
	names := slices.Clone(named)
	if all {
		remotes, err := r.Repo.Remotes(ctx)
		if err != nil {
			return err
		}
		names = append(names, remotes...)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if err := r.Repo.Fetch(ctx, name); err != nil {
			if ctx.Err() != nil {
				return err
			}
			r.Terminal.Warn("%v", err)
			r.Unfetched = r.Unfetched || slices.Contains(named, name)
			continue
		}
		r.Fetched = append(r.Fetched, name)
	}
	return nil
}

// maxRounds limits how often a repair is planned again, because a fix reveals more: a stream that
// loads again refers to content that may be missing.
const maxRounds = 4

// Run makes the certain repairs, and prints what was done and what is left. The error is
// [report.ErrProblems] if something is left, or says that the user did not agree to a change.
func (r *Repair) Run(ctx context.Context) error {
	var faults []*repair.Fault // what was done, and in the end what is left
	var refused error
	for round := 0; ; round++ {
		progress, end := r.Terminal.Stages("repair")
		r.Progress = progress
		plan, err := repair.MakePlan(ctx, r.Options)
		end()
		if err != nil {
			return err
		}
		content, changes := plan.Certain(false), plan.Certain(true)
		stop := r.DryRun || refused != nil || round == maxRounds ||
			len(content)+len(changes) == 0
		if !stop {
			if refused = r.agree(changes); refused != nil && len(content) == 0 {
				stop = true
			}
		}
		if stop {
			faults = append(faults, plan.Faults...)
			return errors.Join(r.print(faults, plan.Unsearched), outcome(faults, refused))
		}
		if err := plan.Apply(ctx, refused == nil); err != nil {
			return err
		}
		done, rest := split(plan)
		faults = append(faults, done...)
		if len(done) == 0 {
			faults = append(faults, rest...) // another round would give the same result
			return errors.Join(r.print(faults, plan.Unsearched), outcome(faults, refused))
		}
	}
}

// split returns what was done and what was not.
func split(p *repair.Plan) (done, rest []*repair.Fault) {
	for _, f := range p.Faults {
		if f.Done {
			done = append(done, f)
		} else {
			rest = append(rest, f)
		}
	}
	return done, rest
}

// outcome returns the error of a repair: that the user did not confirm, or that something is
// incomplete.
func outcome(faults []*repair.Fault, refused error) error {
	open := func(f *repair.Fault) bool { return !f.Done && !f.Minor }
	if refused == nil && slices.ContainsFunc(faults, open) {
		return report.ErrProblems
	}
	return refused
}

// agree asks before conversations are changed. Content is added without asking.
func (r *Repair) agree(changes []*repair.Fault) error {
	if r.Yes || len(changes) == 0 {
		return nil
	}
	if r.Terminal.In != nil && !r.Terminal.JSON {
		for _, f := range changes {
			r.Terminal.Note("%s %s: %s", f.Path, f.Detail, f.Remedy)
		}
	}
	what := "repair " + render.Count(len(changes), "conversation")
	return r.Terminal.Agree(what, what+"?")
}

func (r *Repair) print(faults []*repair.Fault, unsearched []string) error {
	if err := printFaults(&r.Terminal.Printer, faults); err != nil {
		return err
	}
	for _, place := range unsearched {
		r.Terminal.Warn("not everything was looked at: %s", place)
	}
	return nil
}

// maxFaults is how many faults of one kind are printed without -v.
const maxFaults = 20

func printFaults(p *render.Printer, faults []*repair.Fault) error {
	if p.JSON {
		return render.Records(p, lists.Map(faults, newFaultRecord))
	}
	printed := make(map[string]int)
	var kinds []string
	for _, f := range faults {
		kind := actionOf(f)
		if printed[kind] == 0 {
			kinds = append(kinds, kind)
		}
		if printed[kind]++; printed[kind] > maxFaults && !p.Verbose {
			continue
		}
		for _, line := range faultLines(f) {
			if err := p.Line(line); err != nil {
				return err
			}
		}
	}
	var parts []string
	for _, kind := range kinds {
		parts = append(parts, fmt.Sprintf("%d %s", printed[kind], kind))
	}
	summary := "everything is complete"
	if len(parts) > 0 {
		summary = strings.Join(parts, ", ")
	}
	_, err := fmt.Fprintln(p.Out, summary)
	return err
}

// The actions of a fault, in words that can be counted.
const (
	actionRepaired = "repaired"
	actionWould    = "can be repaired"
	actionFailed   = "failed"
	actionOffered  = "to be decided"
	actionGone     = "gone"
)

func actionOf(f *repair.Fault) string {
	switch {
	case f.Done:
		return actionRepaired
	case f.Err != nil:
		return actionFailed
	case f.Outcome == repair.Certain:
		return actionWould
	case f.Outcome == repair.Offered:
		return actionOffered
	default:
		return actionGone
	}
}

// faultLines describe a fault: what is wrong, what is done about it, and what can be done.
func faultLines(f *repair.Fault) []string {
	what := f.Path
	if !f.Ref.Hash.IsZero() && f.State != check.SizeMismatch {
		what = fmt.Sprintf("blob sha256:%s… (%s)", f.Ref.Hash.String()[:12],
			render.Bytes(f.Ref.Size))
		if f.Conversation != 0 {
			what += fmt.Sprintf(" of %s %q", f.Conversation, f.Title)
		}
	}
	lines := []string{fmt.Sprintf("%s: %s %s", actionOf(f), what, f.Detail)}
	add := func(head, text string) {
		if text != "" {
			lines = append(lines, "  "+head+text)
		}
	}
	add("", f.Remedy)
	if f.Err != nil {
		add("error: ", f.Err.Error())
	}
	if !f.Done {
		add("next: ", f.Command)
		for _, h := range f.Holders {
			add("may have it: ", h)
		}
		if f.Outcome == repair.Gone && len(f.Holders) > 0 && f.Conversation != 0 {
			add("next: ", "whoever has it runs 'git jp stage "+f.Conversation.String()+
				"' and commits, or you run 'git jp repair --fetch'")
		}
	}
	return lines
}

func newFaultRecord(f *repair.Fault) FaultRecord {
	r := FaultRecord{
		State: string(f.State), Path: f.Path, Conversation: conversationName(f.Conversation),
		Title: f.Title, Bytes: f.Ref.Size, Detail: f.Detail, Remedy: f.Remedy,
		Command: f.Command, Holders: append([]string{}, f.Holders...),
		Action: strings.ReplaceAll(actionOf(f), " ", "_"),
	}
	if !f.Ref.Hash.IsZero() {
		r.Hash = f.Ref.Hash.String()
	}
	if f.Err != nil {
		r.Error = f.Err.Error()
	}
	return r
}
