package main

import (
	"context"
	"sync"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/revisions"
	"github.com/git-jp/git-jp/internal/workspace"
)

// restored returns a function that returns how much of their sessions the conversations have whose
// stream alone was restored. Only the first call asks git. Without a repository no conversation is
// known to be restored.
func restored(
	ctx context.Context, a *app, w *workspace.Workspace,
) func() map[events.ID]events.ImportVersion {
	repo, err := a.repo(ctx)
	if err != nil {
		return nil
	}
	dir, err := a.dirInRepo(w, repo)
	if err != nil {
		return nil
	}
	return sync.OnceValue(func() map[events.ID]events.ImportVersion {
		return revisions.Restored(ctx, repo, w, dir)
	})
}
