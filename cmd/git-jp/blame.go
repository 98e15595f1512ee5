package main

import (
	"context"

	"github.com/git-jp/git-jp/internal/blame"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/web"
)

type blameCmd struct {
	File  string `arg:"" help:"The file."`
	Lines string `short:"L" placeholder:"FROM[,TO]" help:"Look only at these lines."`
	Ref   string `placeholder:"REF" help:"The file, and conversations, as a commit has them."`
	All   bool   `help:"List all turns of a commit, not only the first."`
}

// Help says what is found, and how sure it is.
func (blameCmd) Help() string {
	return `Shows for lines of a file what was asked when they came about. git blame gives the
commit. A turn that this commit added is marked recorded; one whose call wrote the same line
before it was committed, and that is in no commit or in another one, is marked inferred. Those
that wrote the lines come first.

    git jp blame -L 12,20 main.go
    git jp blame HEAD~2 -- main.go`
}

// Run looks for turns.
func (c blameCmd) Run(ctx context.Context, a *app) error {
	from, to, err := blame.ParseLines(c.Lines)
	if err != nil {
		return &report.UsageError{Err: err}
	}
	failed := false
	all, err := blameLines(ctx, a, blame.Request{
		Rev: c.Ref, Path: c.File, From: from, To: to,
	}, func(err error) {
		a.warn("%v", err)
		failed = true
	})
	if err != nil {
		return err
	}
	err = a.pagedPrinter(ctx, func(p *render.Printer) error { return blame.Print(p, all, c.All) })
	if err != nil || !failed {
		return err
	}
	return report.ErrProblems
}

// blameLines looks for the turns that lines come from. The path is one of the file system.
func blameLines(
	ctx context.Context, a *app, q blame.Request, problem func(error),
) ([]blame.Span, error) {
	repo, err := a.repo(ctx)
	if err != nil {
		return nil, err
	}
	if q.Path, err = blame.PathIn(repo, q.Path, a.path(q.Path)); err != nil {
		return nil, err
	}
	source, err := sourceOf(ctx, a, q.Rev)
	if err != nil {
		return nil, err
	}
	if q.Rev == "" && repo.Bare() {
		q.Rev = "HEAD"
	}
	return blame.Of(ctx, repo, q, web.Subjects(ctx, source, problem), problem)
}
