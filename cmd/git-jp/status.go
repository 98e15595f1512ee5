package main

import (
	"context"
	"errors"

	"github.com/git-jp/git-jp/internal/importer"
	"github.com/git-jp/git-jp/internal/intake"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/staging"
)

type statusCmd struct{}

// Help explains the parts.
func (statusCmd) Help() string {
	return `Shows, by conversation, what is staged, what is changed and not staged, and what is
incomplete: references without content, open tool calls, conversations that another process is
writing. Where sessions of coding agents were imported once, it counts those that are new or have
grown since. Nothing is changed, not even the index's own bookkeeping.`
}

// Run prints the state of the workspace's conversations.
func (c statusCmd) Run(ctx context.Context, a *app) error {
	req, err := stageRequest(ctx, a, nil, false, true)
	if err != nil {
		return err
	}
	all, others, err := staging.Status(ctx, req, a.openWorkspace, newPrinter(a))
	if err != nil {
		return err
	}
	a.warnFindings(others)
	p := &a.terminal.Printer
	in := intake.Intake{Importer: &importer.Importer{Workspace: a.openWorkspace}}
	if a.JSON { // which prints titles, and these may contain secrets
		if full, err := openIntake(ctx, a, a.openWorkspace); err == nil {
			in = full
		}
	}
	unimported := intake.NotImported(ctx, req.Repo, in, placesOf(a))
	if !a.JSON {
		return errors.Join(staging.PrintStatus(p, all), intake.PrintNotImported(p, unimported))
	}
	if err := render.Records(p, all); err != nil {
		return err
	}
	return render.Records(p, unimported)
}
