package main

import (
	"context"
	"errors"
	"slices"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/audit"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/resolve"
)

type resolveCmd struct {
	Conversation []string `arg:"" optional:"" help:"Conversations; all that are in conflict by default."`
	List         bool     `xor:"how" help:"Only list what there is to decide."`
	Ours         bool     `xor:"how" help:"Keep what our side has."`
	Theirs       bool     `xor:"how" help:"Take what their side has."`
	Both         bool     `xor:"how" help:"Keep theirs behind ours, as a turn of its own."`
	Fork         bool     `xor:"how" help:"Keep ours, and make their side a conversation of its own."`
	Forget       bool     `help:"Forget how these conflicts were answered before."`
	Restore      string   `xor:"how" placeholder:"COMMIT" help:"Restore what a merge commit left out."`
	Accept       string   `xor:"how" placeholder:"COMMIT" help:"Accept what a merge commit left out."`
}

// Help says what is decided and what is left alone.
func (resolveCmd) Help() string {
	return `A merge leaves to you what both sides changed differently: the file has our version and
loads, git keeps it unmerged. On a terminal both sides are shown and you are asked; with a flag
the answer is the same for all of them. What is decided is staged; 'git
merge --continue' completes the merge, 'git rebase --continue' a rebase. 'git merge --abort' and
'git checkout --ours' or '--theirs' work as usual.

Each answer is kept as soon as it is given: skip one conflict, or leave, and only the rest is
asked next time. A conflict that comes again, as after 'git reset', gets the same answer, and a
line says so; --forget asks again. As with 'git rerere', answers are kept for 60 days, and
rerere.enabled=false turns this off.

A conversation that both sides gave another title is in two directories, and git calls it
renamed twice. Both become one, and the title follows the rule for metadata.json, whoever merges.

In a clone without the merge driver, the files are merged first. If one side deleted a
conversation and the other continued it, --ours or --theirs chooses the side.

Decisions are recorded in the message of the merge, as a trailer Jp-Resolved. 'git jp check'
reports what a merge left out without a decision: --restore adds it back and stages it, --accept
makes an empty commit that records that it stays out.`
}

// Run decides conflicts.
func (c resolveCmd) Run(ctx context.Context, a *app) error {
	o, err := resolveOptions(ctx, a)
	if err != nil {
		return err
	}
	switch {
	case c.Accept != "":
		return c.accept(ctx, o)
	case c.Restore != "":
		return c.restore(ctx, a, o)
	}
	o.Answer, o.Forget = c.answer(), c.Forget
	if o.Answer == "" && !c.List {
		o.Prompter = a.terminal.NewPrompter(ctx)
	}
	r, err := resolve.New(ctx, o)
	if err != nil {
		return err
	}
	cases, err := c.cases(ctx, a, r)
	if err != nil {
		return err
	}
	if len(cases) == 0 {
		if !c.List {
			err = r.RestoreKept(ctx)
		}
		return errors.Join(err, r.NoteNothing(ctx), a.warnLosing(ctx, o.Repo))
	}
	for _, item := range cases {
		if c.List {
			err = r.Print(item)
		} else {
			err = r.Decide(ctx, item)
		}
		if err != nil {
			return err
		}
	}
	if c.List {
		return &resolve.UndecidedError{Listed: true}
	}
	if err := errors.Join(r.RestoreKept(ctx), r.Undecided()); err != nil {
		return err
	}
	return r.NoteEmpty(ctx)
}

// warnLosing prints what the merge that waits leaves out, although nothing is in conflict.
func (a *app) warnLosing(ctx context.Context, repo *gitint.Repo) error {
	found, err := audit.Auditor{Repo: repo}.Waiting(ctx)
	a.warnFindings(found)
	if len(found) > 0 {
		a.hint(found[0].Next)
	}
	return err
}

// resolveOptions returns the options of a run that asks no questions.
func resolveOptions(ctx context.Context, a *app) (o resolve.Options, err error) {
	if o.Workspace, err = a.workspace(); err != nil {
		return o, err
	}
	if o.Repo, err = a.repo(ctx); err != nil {
		return o, err
	}
	settings := a.openConfig.Settings()
	o.Now, o.PID, o.Terminal, o.Refuse = a.now, a.pid, a.terminal, a.refuseStage
	o.Grace, o.MaxBlobBytes = settings.GC.Grace, settings.Storage.MaxBlobBytes
	o.Dir, err = a.dirInRepo(o.Workspace, o.Repo)
	return o, err
}

// cases returns the cases of the conversations that were named, or all cases.
func (c resolveCmd) cases(ctx context.Context, a *app, r *resolve.Run) ([]merge.Case, error) {
	if len(c.Conversation) == 0 {
		return r.Cases(ctx)
	}
	ids, err := a.stageIDs(c.Conversation)
	if err != nil {
		return nil, err
	}
	cases, err := r.Cases(ctx, ids...)
	return slices.DeleteFunc(cases, func(item merge.Case) bool {
		return !slices.Contains(ids, item.ID)
	}), err
}

// answer returns the command line's answer to all conflicts, "" without one.
func (c resolveCmd) answer() merge.Answer {
	switch {
	case c.Ours:
		return merge.Ours
	case c.Theirs:
		return merge.Theirs
	case c.Both:
		return merge.Both
	case c.Fork:
		return merge.Fork
	default:
		return ""
	}
}

func (c resolveCmd) accept(ctx context.Context, o resolve.Options) error {
	if len(c.Conversation) > 0 {
		return usagef("--accept is about a whole merge: name no conversation")
	}
	r, err := resolve.NewReview(ctx, o, c.Accept)
	if err != nil {
		return err
	}
	return r.Accept(ctx)
}

func (c resolveCmd) restore(ctx context.Context, a *app, o resolve.Options) error {
	r, err := resolve.NewReview(ctx, o, c.Restore)
	if err != nil {
		return err
	}
	wanted, err := a.stageIDs(c.Conversation)
	if err != nil {
		return err
	}
	return r.Restore(ctx, a.refsCache(o.Repo), wanted)
}
