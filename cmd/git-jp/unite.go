package main

import (
	"context"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/repair"
	"github.com/git-jp/git-jp/internal/stage"
	"github.com/git-jp/git-jp/internal/workspace"
)

// unite merges directories that a merge left with one id, as when both sides gave a
// conversation another title, where that is certain, and stages what came of it.
func (a *app) unite(ctx context.Context, hook served, findings []check.Finding) error {
	twice := make(map[string][]events.ID)
	for _, f := range findings {
		dir, ok := workspaceOf(f.Path)
		id, err := events.ParseID(f.Conversation)
		if ok && err == nil && f.State == check.DuplicateID && hook.changes(f.Path) {
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

func (a *app) uniteIn(ctx context.Context, hook served, dir string, ids []events.ID) error {
	w, err := a.hookWorkspace(hook, dir)
	if err != nil {
		return err
	}
	plan, err := repair.PlanUnion(ctx, repair.Options{
		Sources: repair.Sources{Workspace: w, Repo: hook.Repo}, Cache: hook.Cache,
		Now: a.now, PID: a.pid, Keep: hook.settings(dir).GC.Grace,
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
	return a.stageDone(ctx, hook, dir, done)
}

// hookWorkspace opens a workspace of a hook, which waits for nobody.
func (a *app) hookWorkspace(hook served, dir string) (*workspace.Workspace, error) {
	root := filepath.Join(hook.Repo.Root(), filepath.Dir(filepath.FromSlash(dir)))
	env := a.workspaceEnv(hook.settings(dir))
	env.Settings.LockWait = time.Nanosecond
	w, err := workspace.Open(root, env)
	if err == nil {
		a.closers = append(a.closers, w.Close)
	}
	return w, err
}

// stageDone stages what a hook changed in the work tree.
func (a *app) stageDone(
	ctx context.Context, hook served, dir string, done []events.ID,
) error {
	if len(done) == 0 {
		return nil
	}
	_, err := stage.Run(ctx, stage.Request{
		Repo: hook.Repo, Dir: dir, IDs: done, Cache: hook.Cache,
		MaxBlobBytes: hook.settings(dir).Storage.MaxBlobBytes,
	})
	if err == nil {
		a.note("git jp: staged; commit it")
	}
	return err
}

// revive takes out of the archive what one side archived and the other continued later. Git
// follows the rename, and so the continuation went into the archive.
func (a *app) revive(ctx context.Context, hook served, paths []gitint.StagedPath) error {
	put := make(map[string][]events.ID)
	for _, p := range paths {
		dir, ok := workspaceOf(p.Path)
		at, file := path.Split(p.Path)
		id, known := events.ParseDirname(path.Base(at))
		if ok && known && file == workspace.EventsFile && p.NewMode.IsRegular() &&
			strings.HasPrefix(at, dir+"/conversations/.archive/") {
			put[dir] = append(put[dir], id)
		}
	}
	for dir, ids := range put {
		w, err := a.hookWorkspace(hook, dir)
		if err != nil {
			return err
		}
		var done []events.ID
		for _, id := range ids {
			if !continuedLater(w, id) {
				continue
			}
			if _, err := w.Unarchive(ctx, id); err != nil {
				a.warn("%s: %v", id, err)
				continue
			}
			a.note("git jp: %s is live again: it was continued after it was archived", id)
			done = append(done, id)
		}
		if err := a.stageDone(ctx, hook, dir, done); err != nil {
			return err
		}
	}
	return nil
}

// continuedLater reports whether a conversation has an event at or after its archiving. One
// that cannot be read stays where it is.
func continuedLater(w *workspace.Workspace, id events.ID) bool {
	e, err := w.Find(id.String(), workspace.FindOptions{
		ListOptions: workspace.ListOptions{Archived: true},
	})
	if err != nil || e.Partition != workspace.Archive {
		return false
	}
	c, err := w.Load(e)
	if err != nil || c.Details.ArchivedAt == nil {
		return false
	}
	for _, el := range c.Stream.All() {
		if !el.Time().Before(*c.Details.ArchivedAt) {
			return true
		}
	}
	return false
}
