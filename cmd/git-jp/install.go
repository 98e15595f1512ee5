package main

import (
	"context"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/register"
)

type installCmd struct {
	Chain   bool `xor:"chain" help:"Put a marked block into hooks that are shell scripts of your own."`
	Drivers bool `xor:"chain,trailer" help:"Only the drivers and the attributes, as for CI."`
	Trailer bool `xor:"trailer" help:"Also name the conversations that a commit changes in its message."`
	DryRun  bool `short:"n" help:"Print what would be done."`
}

// Help says what is installed and what is never touched.
func (installCmd) Help() string {
	return `Sets up this clone: registers the drivers by which git merges conversations and shows
them in diffs, writes the attributes that name them, and installs the hooks. pre-commit stages
the content that staged conversations need and stops a commit that would dangle, post-commit
completes partial commits, pre-push checks the commits that are about to be pushed, and the hooks
of merges check what git merged on its own. A bare repository gets pre-receive instead.

Commit .jp/.gitattributes: with it a clone without these drivers stops at a merge instead of
merging by lines. Files of other tools are not changed; where a hook is in the way, the
line to add to it is printed, and --chain puts it there. 'git jp uninstall' leaves the repository
as it was.`
}

// Run installs the hooks.
func (c installCmd) Run(ctx context.Context, a *app) error {
	repo, err := a.repo(ctx)
	if err != nil {
		return err
	}
	return cloneOf(a, repo).Install(ctx, register.Request(c))
}

// cloneOf returns the hooks and drivers of a repository, to install them.
func cloneOf(a *app, repo *gitint.Repo) register.Clone {
	return register.Clone{Repo: repo, Printer: &a.terminal.Printer}
}

type uninstallCmd struct {
	DryRun bool `short:"n" help:"Print what would be done."`
}

// Run removes the hooks and drivers again.
func (c uninstallCmd) Run(ctx context.Context, a *app) error {
	repo, err := a.repo(ctx)
	if err != nil {
		return err
	}
	return cloneOf(a, repo).Uninstall(ctx, c.DryRun)
}
