package main

import (
	"cmp"
	"context"

	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/revisions"
)

type logCmd struct {
	Conversation string   `arg:"" optional:"" help:"The conversation; the active one by default. A deleted one is named by its id in full."`
	Revision     []string `arg:"" optional:"" help:"Where to begin, and where to end: a revision or a range."`
	All          bool     `help:"Look at all branches and tags."`
	Count        *int     `short:"n" name:"max-count" placeholder:"N" help:"Show the newest N commits only."`
}

// Help says what is shown.
func (logCmd) Help() string {
	return `Lists the commits that changed a conversation, wherever its directory was at the time,
and what they did to it. 'git log -p' shows the text of the changes.`
}

// Run lists the commits that changed a conversation.
func (c logCmd) Run(ctx context.Context, a *app) error {
	if c.Count != nil && *c.Count < 1 {
		return usagef("--max-count %d: expected a positive number", *c.Count)
	}
	repo, err := a.repo(ctx)
	if err != nil {
		return err
	}
	w, err := a.workspace()
	if err != nil {
		return err
	}
	dir, err := a.dirInRepo(w, repo)
	if err != nil {
		return err
	}
	ids, err := a.stageIDs([]string{cmp.Or(c.Conversation, ".")})
	if err != nil {
		return err
	}
	all, err := revisions.Of(ctx, repo, revisions.Request{
		Dir: dir, ID: ids[0], Revs: c.Revision, All: c.All, Count: *cmp.Or(c.Count, new(int)),
	})
	if err != nil {
		return err
	}
	if len(all) == 0 {
		a.note("no commit has %s", ids[0])
	}
	return a.pagedPrinter(ctx, func(p *render.Printer) error { return revisions.Print(p, all) })
}
