package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/repair"
	"github.com/git-jp/git-jp/internal/report"
)

type repairCmd struct {
	DryRun bool     `short:"n" help:"Print what would be done."`
	Fetch  bool     `help:"Fetch the branches of all remotes first."`
	Remote []string `placeholder:"NAME" sep:"none" help:"Fetch the branches of this remote first."`
	Yes    bool     `short:"y" help:"Do not ask before conversations are changed."`
}

// Help says what is done without asking and what never is.
func (repairCmd) Help() string {
	return `Looks for what is incomplete in the working tree: references without content, damaged
content, conversations that cannot be loaded, directories that share an id, and what jp has put
into its trash.

Content comes back from wherever this machine has it: other worktrees, other workspaces of the
same one, the user-local store, the quarantine of 'git jp gc', Git LFS, the index, and everything
that a branch, tag, stash or reflog leads to, older versions of the conversation included. It is
verified by its hash. The network is used only with --fetch or --remote.

Only what is certain is done: content is brought back, a file that was cut off is completed, or
ended behind its last whole event where no version has more, two sides that conflict markers
stand between are merged, directories with one id are merged, and
a conversation in jp's trash that can be loaded comes back. What is replaced or taken away lies
in <git-common-dir>/jp/trash for the grace period, and 'git jp gc undo --list' lists it. All
else is reported, with the command that helps, or with who may still have it.

Exit code: 0 everything is complete, 1 something is left.`
}

// faultRecord is something incomplete in the JSON of repair.
type faultRecord struct {
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

// maxRounds is how often a repair is planned again, because what was mended shows more:
// a stream that loads again refers to content that may be missing.
const maxRounds = 4

// Run repairs.
func (c repairCmd) Run(ctx context.Context, a *app) error {
	o, err := repairer(ctx, a)
	if err != nil {
		return err
	}
	if err := c.fetch(ctx, a, &o); err != nil {
		return err
	}
	var faults []*repair.Fault // what was done, and in the end what is left
	var refused error
	for round := 0; ; round++ {
		progress, end := a.terminal.Stages("repair")
		o.Progress = progress
		plan, err := repair.MakePlan(ctx, o)
		end()
		if err != nil {
			return err
		}
		content, changes := plan.Certain(false), plan.Certain(true)
		stop := c.DryRun || refused != nil || round == maxRounds ||
			len(content)+len(changes) == 0
		if !stop {
			if refused = c.agree(a, changes); refused != nil && len(content) == 0 {
				stop = true
			}
		}
		if stop {
			faults = append(faults, plan.Faults...)
			return errors.Join(c.print(a, faults, plan.Unsearched), result(faults, refused))
		}
		if err := plan.Apply(ctx, refused == nil); err != nil {
			return err
		}
		done, rest := split(plan)
		faults = append(faults, done...)
		if len(done) == 0 {
			faults = append(faults, rest...) // another round would come to the same
			return errors.Join(c.print(a, faults, plan.Unsearched), result(faults, refused))
		}
	}
}

// split tells what was done from what was not.
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

// result is the error of the whole: that nobody confirmed, or that something is incomplete.
func result(faults []*repair.Fault, refused error) error {
	open := func(f *repair.Fault) bool { return !f.Done && !f.Minor }
	if refused == nil && slices.ContainsFunc(faults, open) {
		return report.ErrProblems
	}
	return refused
}

// repairer opens what a repair needs. A workspace need not be in a repository.
func repairer(ctx context.Context, a *app) (repair.Options, error) {
	w, err := a.workspace()
	if err != nil {
		return repair.Options{}, err
	}
	o := repair.Options{Sources: repair.Sources{Workspace: w}, Now: a.now, PID: a.pid}
	settings, err := a.settings()
	if err != nil {
		return o, err
	}
	o.Keep = settings.GC.Grace
	o.Repo, err = repoOf(ctx, a, w)
	if errors.Is(err, gitint.ErrNotRepository) {
		o.Repo = nil
		return o, nil
	}
	if err != nil {
		return o, err
	}
	o.Cache = a.refsCache(o.Repo)
	return o, nil
}

// fetch asks remotes. One that cannot be reached stops nothing.
func (c repairCmd) fetch(ctx context.Context, a *app, o *repair.Options) error {
	if o.Repo == nil || !c.Fetch && len(c.Remote) == 0 {
		return nil
	}
	names := c.Remote
	if c.Fetch {
		all, err := o.Repo.Remotes(ctx)
		if err != nil {
			return err
		}
		names = append(slices.Clone(names), all...)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if err := o.Repo.Fetch(ctx, name); err != nil {
			if ctx.Err() != nil {
				return err
			}
			a.warn("%v", err)
			continue
		}
		o.Fetched = append(o.Fetched, name)
	}
	return nil
}

// agree asks before conversations are changed. Content is added without asking.
func (c repairCmd) agree(a *app, changes []*repair.Fault) error {
	if c.Yes || len(changes) == 0 {
		return nil
	}
	if a.terminal.In != nil && !a.JSON {
		for _, f := range changes {
			a.note("%s %s: %s", f.Path, f.Detail, f.Remedy)
		}
	}
	what := "repair " + render.Count(len(changes), "conversation")
	return a.terminal.Agree(what, what+"?")
}

func (c repairCmd) print(a *app, faults []*repair.Fault, unsearched []string) error {
	if a.JSON {
		lines := render.NewJSONLines(a.stdout, a.output())
		for _, f := range faults {
			if err := lines.Write(newFaultRecord(f)); err != nil {
				return err
			}
		}
	} else if err := c.printText(a, faults); err != nil {
		return err
	}
	for _, place := range unsearched {
		a.warn("not everything was looked at: %s", place)
	}
	return nil
}

// maxFaults is how many faults of one kind are told without --verbose.
const maxFaults = 20

func (c repairCmd) printText(a *app, faults []*repair.Fault) error {
	out := a.output()
	told := make(map[string]int)
	var kinds []string
	for _, f := range faults {
		kind := actionOf(f)
		if told[kind] == 0 {
			kinds = append(kinds, kind)
		}
		if told[kind]++; told[kind] > maxFaults && !a.Verbose {
			continue
		}
		for _, line := range faultLines(f) {
			if _, err := fmt.Fprintln(a.stdout, out.Line(line)); err != nil {
				return err
			}
		}
	}
	var parts []string
	for _, kind := range kinds {
		parts = append(parts, fmt.Sprintf("%d %s", told[kind], kind))
	}
	summary := "everything is complete"
	if len(parts) > 0 {
		summary = strings.Join(parts, ", ")
	}
	_, err := fmt.Fprintln(a.stdout, summary)
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

// faultLines say all about a fault: what is wrong, what is done about it, and what can be.
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

func newFaultRecord(f *repair.Fault) faultRecord {
	r := faultRecord{
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
