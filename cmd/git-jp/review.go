package main

import (
	"cmp"
	"context"
	"io"

	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/review"
	"github.com/git-jp/git-jp/internal/update"
	"github.com/git-jp/git-jp/internal/view"
	"github.com/git-jp/git-jp/internal/web"
)

type reviewCmd struct {
	textOnly

	Range  string `arg:"" optional:"" placeholder:"BASE[..HEAD]" help:"What is compared; by default the base that update-branch takes, and HEAD."`
	Format string `short:"f" enum:"md,html" default:"md" placeholder:"md|html" help:"md or html."`
	Output string `short:"o" placeholder:"FILE" help:"Write to FILE instead of standard output."`
}

// Help says what is shown.
func (reviewCmd) Help() string {
	return `Shows what a branch asked and answered: of each conversation the turns that were added
since the branch left the base. Markdown is for the comment of a pull request: prompts and
answers, quoted, with a line that counts what was redacted and what was too long. As
--format=html it is a page with all that those turns have.

    git jp review origin/main..HEAD`
}

// Run compares two commits.
func (c reviewCmd) Run(ctx context.Context, a *app) error {
	repo, err := a.repo(ctx)
	if err != nil {
		return err
	}
	base, head, err := update.Ends(ctx, repo, c.Range)
	if err != nil {
		return err
	}
	failed := false
	problem := func(err error) {
		failed = true
		if !isNotHere(a, err) {
			a.warn("%v", err)
		}
	}
	fetched := review.Fetch(ctx, repo, c.Format == "html", review.Range{Base: base, Head: head})
	all, err := review.Between(ctx, repo, base, head, problem)
	if err != nil {
		return cmp.Or(fetched, err) // a failed fetch is the cause
	}
	if fetched != nil {
		problem(fetched)
	}
	var problems []render.Problem
	write := func(out io.Writer) (err error) {
		if c.Format == "html" {
			problems, err = c.page(a, out, all)
			return err
		}
		return review.Markdown(out, all)
	}
	if err := writeTo(a, c.Output, write); err != nil {
		return err
	}
	if err := contentProblems(a, problems); err != nil || !failed {
		return err
	}
	return report.ErrProblems
}

// page writes everything in the turns of the branch.
func (reviewCmd) page(
	a *app, out io.Writer, all []review.Conversation,
) ([]render.Problem, error) {
	prices, err := a.models()
	if err != nil {
		return nil, err
	}
	doc := view.Document{Title: "What was asked on this branch", Prices: prices}
	return doc.Write(out, web.Reviewed(all)...)
}
