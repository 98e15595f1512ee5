package hooks

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/repair"
	"github.com/git-jp/git-jp/internal/stage"
	"github.com/git-jp/git-jp/internal/workspace"
)

// unite merges directories that a merge left with one id, as when both sides retitled a
// conversation, if the result is certain, and stages it.
func (r *run) unite(
	ctx context.Context, hook served, at landing, findings []check.Finding,
) error {
	twice := make(map[string][]events.ID)
	for _, f := range findings {
		dir, ok := workspace.PathDir(f.Path)
		id, err := events.ParseID(f.Conversation)
		if ok && err == nil && f.State == check.DuplicateID && hook.changes(f.Path) {
			twice[dir] = append(twice[dir], id)
		}
	}
	united := false
	for _, dir := range slices.Sorted(maps.Keys(twice)) {
		done, err := r.uniteIn(ctx, hook, uniting{dir, twice[dir], at.sides})
		if err != nil {
			return err
		}
		united = united || done
	}
	if !united {
		return nil
	}
	return r.settleStaged(ctx, hook.Repo, at)
}

// A uniting has the conversations of a workspace that are in several directories, and the commits
// that were brought together.
type uniting struct {
	dir   string
	ids   []events.ID
	sides *merge.Sides
}

func (r *run) uniteIn(ctx context.Context, hook served, u uniting) (bool, error) {
	dir, ids := u.dir, u.ids
	w, err := r.workspaceAt(hook, dir)
	if err != nil {
		return false, err
	}
	plan, err := repair.PlanUnion(ctx, repair.Options{
		Sources: repair.Sources{Workspace: w, Repo: hook.Repo}, Cache: hook.Cache,
		Now: r.Now, PID: r.PID, Keep: hook.settings(dir).GC.Grace, Sides: u.sides,
	}, ids)
	if err != nil {
		return false, err
	}
	if err := plan.Apply(ctx, true); err != nil {
		return false, err
	}
	var done []events.ID
	for _, f := range plan.Faults {
		switch {
		case f.Done:
			done = append(done, f.Conversation)
			r.Note("git jp: %s: %s", f.Conversation, f.Remedy)
		case f.Err != nil:
			r.Warn("%s: %v", f.Path, f.Err)
		}
	}
	if len(done) == 0 {
		return false, nil
	}
	_, err = stage.Run(ctx, stage.Request{
		Repo: hook.Repo, Dir: dir, IDs: done, Cache: hook.Cache,
		MaxBlobBytes: hook.settings(dir).Storage.MaxBlobBytes,
	})
	return err == nil, err
}

// workspaceAt opens a workspace of a hook.
func (e Env) workspaceAt(hook served, dir string) (*workspace.Workspace, error) {
	root := filepath.Join(hook.Repo.Root(), filepath.Dir(filepath.FromSlash(dir)))
	return e.Workspace(root, hook.settings(dir))
}
