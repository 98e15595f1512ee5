package main

import (
	"context"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/revisions"
	"github.com/git-jp/git-jp/internal/workspace"
)

// restored returns how much of their sessions the conversations have whose stream alone was
// restored. Without a repository no conversation is known to be restored.
func restored(
	ctx context.Context, a *app, w *workspace.Workspace,
) map[events.ID]events.ImportVersion {
	repo, err := a.repo(ctx)
	if err != nil {
		return nil
	}
	dir, err := a.dirInRepo(w, repo)
	if err != nil {
		return nil
	}
	return revisions.Restored(ctx, repo, w, dir)
}
