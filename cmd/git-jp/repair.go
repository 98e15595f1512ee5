package main

import (
	"context"
	"errors"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/repair"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/upkeep"
)

type repairCmd struct {
	DryRun bool     `short:"n" help:"Print what would be done."`
	Fetch  bool     `help:"Fetch the branches of all remotes first."`
	Remote []string `placeholder:"NAME" sep:"none" help:"Fetch the branches of this remote first."`
	Yes    bool     `short:"y" help:"Do not ask before conversations are changed."`
}

// Help says what is done without asking and what is never done.
func (repairCmd) Help() string {
	return `Looks for what is incomplete in the working tree: references without content, damaged
content, conversations that cannot be loaded, directories that share an id, what jp has put into
its trash, and what only a stash without a name has, as after a merge that failed.

Content comes back from wherever this machine has it: other worktrees, other workspaces of the
same one, the user-local store, the quarantine of 'git jp gc', Git LFS, the index, and everything
that a branch, tag, stash or reflog leads to, older versions of the conversation included. It is
verified by its hash. The network is used only with --fetch or --remote.

Only what is certain is done: content is restored, a file that was cut off is completed, or
truncated after its last complete event where no version has more, two sides between conflict
markers are merged, directories with one id are merged, attachments that jp dropped from a request
are restored, and so is a conversation in jp's trash that can be loaded. A damaged blob that
is staged and that nothing refers to is removed. What is replaced or removed is kept in
<git-common-dir>/jp/trash for the grace period, and 'git jp gc undo --list' lists it. Everything
else is reported, with the command that helps, or with who may still have it.

Exit code: 0 everything is complete, 1 something is left, or a remote that --remote names cannot
be fetched.`
}

// Run repairs the workspace.
func (c repairCmd) Run(ctx context.Context, a *app) error {
	o, err := repairer(ctx, a)
	if err != nil {
		return err
	}
	r := upkeep.Repair{Options: o, Terminal: a.terminal, DryRun: c.DryRun, Yes: c.Yes}
	if err := r.Fetch(ctx, c.Remote, c.Fetch); err != nil {
		return err
	}
	err = r.Run(ctx)
	if err == nil && r.Unfetched {
		err = report.ErrProblems // Fetch printed why
	}
	return err
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
