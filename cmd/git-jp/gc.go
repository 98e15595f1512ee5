package main

import (
	"context"
	"path/filepath"

	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/upkeep"
	"github.com/git-jp/git-jp/internal/workspace"
)

type gcCmd struct {
	Run  gcRunCmd  `cmd:"" default:"withargs" help:"Delete what nothing refers to."`
	Why  gcWhyCmd  `cmd:"" help:"Show what keeps a blob, or what did."`
	Undo gcUndoCmd `cmd:"" help:"Restore what was deleted."`
}

// Help says what is kept and what happens to the rest.
func (gcCmd) Help() string {
	return `Deletes content from the store of this worktree that nothing can need: no worktree,
index, branch, remote-tracking branch, stash or operation in progress refers to it, and no
older commit refers to it without having it itself. What cannot be read stops it, and it says
what that is. In a lazy clone that is also what only the remote has; --fetch-all fetches it.

What is deleted is kept in a quarantine for the grace period, and 'git jp gc undo' restores it.
The same applies to what 'git jp compact --in-place' and 'git jp repair' have changed or removed.
Files that git tracks also leave the index, which is asked first.

gc.auto collects files that git does not track beside 'git jp query', and after a commit where
agents' sessions are captured, once a day, and the content of user-local conversations, which
--user-local does at once.`
}

type gcRunCmd struct {
	DryRun        bool   `short:"n" help:"Print what would be deleted and why."`
	Grace         string `placeholder:"DURATION" help:"How old content must be, such as 3d or 2w; gc.grace by default."`
	KeepIndex     bool   `help:"Delete files that git tracks, and leave them in the index."`
	Untracked     bool   `help:"Delete only files that git does not track."`
	UserLocal     bool   `help:"Collect the content of user-local conversations."`
	AcceptMissing bool   `help:"Continue although references are without content already."`
	FetchAll      bool   `help:"Fetch conversations that only the remote has."`
	LsRemote      bool   `name:"ls-remote" help:"Ask remotes for branches that were not fetched."`
	Yes           bool   `short:"y" help:"Do not ask."`
}

// Run collects garbage.
func (c gcRunCmd) Run(ctx context.Context, a *app) error {
	if c.Grace != "" {
		if err := config.Valid("gc.grace", c.Grace); err != nil {
			return usagef("--grace: %w", err)
		}
		a.Set = append(a.Set, "gc.grace="+c.Grace)
	}
	if c.DryRun {
		a.interrupts.Reading()
	}
	o, err := collector(ctx, a, c.UserLocal)
	if err != nil {
		return err
	}
	o.OnlyUntracked, o.KeepIndex, o.AcceptMissing = c.Untracked, c.KeepIndex, c.AcceptMissing
	if c.FetchAll && o.Repo != nil {
		o.Fetch = fetchFiles(a, o.Repo)
	}
	a.garbage.seldom()
	if o.Repo != nil && o.Repo.PackedObjects(ctx) >= muchToRead {
		a.garbage.growLarge()
	}
	return upkeep.Collection{
		Options: o, Terminal: a.terminal, DryRun: c.DryRun, Yes: c.Yes, LsRemote: c.LsRemote,
	}.Run(ctx)
}

// collector opens what a collection needs: the repository of the workspace, which need not be that
// of the working directory.
func collector(ctx context.Context, a *app, userLocal bool) (gc.Options, error) {
	w, err := a.workspace()
	if err != nil {
		return gc.Options{}, err
	}
	settings, err := a.settings()
	if err != nil {
		return gc.Options{}, err
	}
	o := gc.Options{
		Workspace: w, UserLocal: userLocal, Now: a.now, PID: a.pid, Grace: settings.GC.Grace,
	}
	if userLocal {
		return o, nil
	}
	if o.Repo, err = repoOf(ctx, a, w); err != nil {
		return o, err
	}
	o.Cache = a.refsCache(o.Repo)
	return o, nil
}

// repoOf opens the repository that contains a workspace.
func repoOf(ctx context.Context, a *app, w *workspace.Workspace) (*gitint.Repo, error) {
	log, err := openTrace(a)
	if err != nil {
		return nil, err
	}
	r, err := gitint.Open(ctx, gitint.Options{
		Dir: w.Root(), Env: a.env, Trace: log, Now: a.now, LockTimeout: indexLockWait,
		Limits: a.limits(),
	})
	if err == nil {
		a.closers = append(a.closers, r.Close)
	}
	return r, err
}

// finishCollection finishes an interrupted collection of the workspace, before anything else is
// done with it.
func finishCollection(a *app, w *workspace.Workspace) {
	ctx := context.Background() // it is short, and must not stop half-way again
	for _, userLocal := range []bool{false, true} {
		dir := w.Dir()
		if userLocal {
			dir = w.UserDir()
		}
		if dir == "" || !gc.IsOpen(dir) {
			continue
		}
		o := gc.Options{Workspace: w, UserLocal: userLocal, Now: a.now, PID: a.pid}
		var err error
		if !userLocal {
			o.Repo, err = repoOf(ctx, a, w)
		}
		upkeep.Recover(ctx, &a.terminal.Printer, o, err)
	}
}

// putBack is finishCollection for hooks: it costs one look at a file if no run is open, it waits
// for no lock, and it changes no index and deletes nothing.
func (a *app) putBack(ctx context.Context, root string, repo *gitint.Repo) {
	if !gc.IsOpen(filepath.Join(root, workspace.DirName)) {
		return
	}
	w, err := a.workspaceAt(root)
	upkeep.Recover(ctx, &a.terminal.Printer, gc.Options{
		Workspace: w, Repo: repo, Now: a.now, PID: a.pid, NoWait: true,
	}, err)
}

// collectAside begins a due collection beside a command that takes long. The returned function ends
// it and does not wait: the next command rolls back what was not finished.
func collectAside(ctx context.Context, a *app, w *workspace.Workspace) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	go collectDue(a, w)(ctx)
	return cancel
}

// collectDue returns a function that makes a due collection, unless the user does not want any.
func collectDue(a *app, w *workspace.Workspace) func(context.Context) {
	settings, err := a.settings()
	if err != nil || !settings.GC.Auto || safe(a, w.Root()) != nil {
		return func(context.Context) {}
	}
	limits := a.limits()
	return func(ctx context.Context) {
		// It opens everything itself: the command closes its own when it ends.
		repo, err := gitint.Open(ctx, gitint.Options{Dir: w.Root(), Env: a.env, Limits: limits})
		if err != nil {
			return
		}
		own, err := workspace.Open(w.Root(), a.workspaceEnv(settings))
		if err != nil {
			return
		}
		o := gc.Options{
			Repo: repo, Workspace: own, Now: a.now, PID: a.pid, Grace: settings.GC.Grace,
			Cache:         refs.Open(filepath.ToSlash(filepath.Join(repo.Dir(), "cache"))),
			OnlyUntracked: true,
		}
		gc.CollectDue(ctx, o)
		if ctx.Err() == nil {
			_ = o.Cache.Close()
		}
		gc.CollectDue(ctx, gc.Options{
			Workspace: own, UserLocal: true, Now: a.now, PID: a.pid, Grace: settings.GC.Grace,
		})
	}
}
