package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/resolve"
	"github.com/git-jp/git-jp/internal/update"
)

type updateBranchCmd struct {
	Base string `arg:"" optional:"" help:"What is merged; by default jp.base of git's configuration, else the remote's default branch."`
	Push bool   `help:"Push the branch afterwards."`
}

// Help says what it is for.
func (updateBranchCmd) Help() string {
	return `Merges the base into the current branch on this machine, with the drivers: the merge
button of a forge runs none. Nothing is fetched, and nothing is pushed without --push. The working
tree must have no changes of tracked files. Untracked blobs that the base has too, over which git
refuses to merge, are replaced: their content is the same. Where a person has to decide, the merge
is left as git leaves it.

    git fetch && git jp update-branch --push

Exit code: 0 the branch has the base, 1 it could not be merged, 2 a person has to decide.`
}

// Run updates.
func (c updateBranchCmd) Run(ctx context.Context, a *app) error {
	repo, err := a.repo(ctx)
	if err != nil {
		return err
	}
	b, err := update.Current(ctx, repo)
	if err != nil {
		return fmt.Errorf("update the branch: %w", err)
	}
	if c.Base == "" {
		c.Base, err = update.DefaultBase(ctx, repo, b.Remote)
		if isA[*update.NoBaseError](err) {
			return usagef("name the base, as in 'git jp update-branch main': %w", err)
		}
		if err != nil {
			return err
		}
	}
	o := update.Options{
		Repo: repo, Dirs: nearDirs(a, repo), Hooks: hookEnv(a),
		Resolve: func(ctx context.Context) (resolve.Options, error) {
			return resolveOptions(ctx, a)
		},
		Said: func(said string) { relay(a, said) },
	}
	err = o.Ready(ctx)
	if isA[*update.DriftError](err) {
		return &situation{err.Error(), report.Register}
	}
	if err != nil {
		return err
	}
	r := update.Record{Branch: b.Name, Base: c.Base}
	if r.Before, r.After, err = o.Merge(ctx, c.Base); err != nil {
		return err
	}
	if c.Push {
		if err := o.Push(ctx, b); err != nil {
			return err
		}
		r.Pushed = true
	}
	return r.Print(&a.terminal.Printer)
}

// relay prints the output of git and the hooks.
func relay(a *app, said string) {
	for line := range strings.Lines(said) {
		fmt.Fprintln(a.stderr, render.Message(strings.TrimRight(line, "\n")))
	}
}
