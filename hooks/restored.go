package hooks

import (
	"context"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/repair"
	"github.com/git-jp/git-jp/internal/workspace"
)

// lostIn returns the findings about missing content that a hook may restore. It leaves out what was
// redacted: the secret would be back.
func lostIn(
	ctx context.Context, r *run, hook served, findings []check.Finding,
) (all []check.Finding, err error) {
	in := make(map[string][]check.Finding)
	for _, f := range findings {
		dir, ok := workspace.PathDir(f.Path)
		if ok && f.State == check.Missing && !f.Hash.IsZero() && hook.restores(f.Path) {
			in[dir] = append(in[dir], f)
		}
	}
	for dir, some := range in {
		from, err := sources(r, hook, dir)
		if err != nil {
			return nil, err
		}
		redacted, err := from.Redacted(ctx, some)
		if err != nil {
			return nil, err
		}
		for i, f := range some {
			if !redacted[i] {
				all = append(all, f)
			}
		}
	}
	return all, nil
}

// sources are the places where content of a workspace may be.
func sources(r *run, hook served, dir string) (repair.Sources, error) {
	w, err := r.workspaceAt(hook, dir)
	return repair.Sources{Workspace: w, Repo: hook.Repo}, err
}

// blobOf returns the path of the missing content that a finding is about.
func blobOf(f check.Finding) string {
	dir, _ := workspace.PathDir(f.Path)
	return workspace.BlobPath(dir, f.Hash)
}

// restore is restoreLost for those of the findings that a hook may restore.
func (r *run) restore(
	ctx context.Context, hook served, findings []check.Finding,
) ([]string, error) {
	lost, err := lostIn(ctx, r, hook, findings)
	if err != nil {
		return nil, err
	}
	return restoreLost(ctx, r, hook, lost)
}

// restoreLost brings lost content back, wherever this repository has it, and returns the paths that
// are back in the working tree.
func restoreLost(
	ctx context.Context, r *run, hook served, findings []check.Finding,
) ([]string, error) {
	lost := make(map[string][]repair.Lost)
	for _, f := range findings {
		l := repair.Lost{Hash: f.Hash, Size: f.Size}
		if id, err := events.ParseID(f.Conversation); err == nil {
			l.In = []events.ID{id}
		}
		dir, _ := workspace.PathDir(f.Path)
		lost[dir] = append(lost[dir], l)
	}
	var names []string
	for dir, all := range lost {
		from, err := sources(r, hook, dir)
		if err != nil {
			return names, err
		}
		found, err := repair.Restore(ctx, from, from.Workspace.Blobs(), all)
		if err != nil {
			return names, err
		}
		for _, f := range found.Finds {
			names = append(names, workspace.BlobPath(dir, f.Hash))
		}
	}
	if len(names) > 0 {
		r.Note("git jp: restored %s that conversations refer to",
			render.Count(len(names), "lost blob"))
	}
	return names, nil
}
