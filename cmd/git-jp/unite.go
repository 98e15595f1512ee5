package main

import (
	"context"
	"path/filepath"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/repair"
	"github.com/git-jp/git-jp/internal/stage"
	"github.com/git-jp/git-jp/internal/workspace"
)

// unite merges directories that a merge left with one id, as when both sides gave a
// conversation another title, where that is certain, and stages what came of it.
func (a *app) unite(ctx context.Context, hook stage.Hook, findings []check.Finding) error {
	twice := make(map[string][]events.ID)
	for _, f := range findings {
		dir, ok := workspaceOf(f.Path)
		id, err := events.ParseID(f.Conversation)
		if ok && err == nil && f.State == check.DuplicateID {
			twice[dir] = append(twice[dir], id)
		}
	}
	for dir, ids := range twice {
		if err := a.uniteIn(ctx, hook, dir, ids); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) uniteIn(ctx context.Context, hook stage.Hook, dir string, ids []events.ID) error {
	root := filepath.Join(hook.Repo.Root(), filepath.Dir(filepath.FromSlash(dir)))
	conf, err := a.configAt(root)
	if err != nil {
		return err
	}
	env := a.workspaceEnv(conf.Settings())
	env.Settings.LockWait = time.Nanosecond // a hook waits for nobody
	w, err := workspace.Open(root, env)
	if err != nil {
		return err
	}
	a.closers = append(a.closers, w.Close)
	plan, err := repair.PlanUnion(ctx, repair.Options{
		Sources: repair.Sources{Workspace: w, Repo: hook.Repo}, Cache: hook.Cache,
		Now: a.now, PID: a.pid,
	}, ids)
	if err != nil {
		return err
	}
	if err := plan.Apply(ctx, true); err != nil {
		return err
	}
	var done []events.ID
	for _, f := range plan.Faults {
		switch {
		case f.Done:
			done = append(done, f.Conversation)
			a.note("git jp: %s: %s", f.Conversation, f.Remedy)
		case f.Err != nil:
			a.warn("%s: %v", f.Path, f.Err)
		}
	}
	if len(done) == 0 {
		return nil
	}
	_, err = stage.Run(ctx, stage.Request{
		Repo: hook.Repo, Dir: dir, IDs: done, MaxBlobBytes: hook.MaxBlobBytes, Cache: hook.Cache,
	})
	if err == nil {
		a.note("git jp: staged; commit it")
	}
	return err
}
