package main

import (
	"context"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/report"
)

type mergeDriverCmd struct {
	Kind   string `arg:"" help:"events, metadata, config or blob."`
	Base   string `arg:"" help:"The version of the common ancestor."`
	Ours   string `arg:"" help:"Our version, which becomes the result."`
	Theirs string `arg:"" help:"Their version."`
	Path   string `arg:"" optional:"" help:"Where the file lies."`
	Marker int    `arg:"" optional:"" help:"The length of git's markers of conflicts."`
	Trial  bool   `help:"Do not record conflicts to be decided later."`
}

// Run merges one file for git. Exit code 1 means a conflict to git.
func (c mergeDriverCmd) Run(ctx context.Context, a *app) error {
	m, err := merge.Call{
		Kind: merge.Kind(c.Kind), Path: c.Path, MarkerSize: c.Marker, Trial: c.Trial,
		Base: a.path(c.Base), Ours: a.path(c.Ours), Theirs: a.path(c.Theirs),
		Repo: func() (*gitint.Repo, error) { return a.repo(ctx) }, Now: a.now,
		Limits: a.limits(), Writing: a.interrupts.Finish,
	}.Run(ctx)
	if err != nil {
		return err // the files are unchanged
	}
	for _, w := range m.Warnings {
		a.warn("%s: %s", c.Path, w)
	}
	if len(m.Conflicts) == 0 {
		return nil
	}
	a.note("%s: %s to decide; 'git jp resolve' shows both sides", c.Path,
		render.Count(len(m.Conflicts), "conflict"))
	return report.ErrProblems
}
