package hooks

import (
	"context"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/audit"
	"github.com/git-jp/git-jp/internal/merge"
)

// completes reports whether a commit completes what git combined. It starts no process.
func completes(hook served) bool { return merge.Completes(hook.Repo) && !hook.Partial() }

// restoreKept restores the files of conversations that one side removed and the other changed, if
// the commit that completes a merge, a pick or an applied stash keeps only the changed ones.
func restoreKept(
	ctx context.Context, hook served, note func(format string, args ...any),
) error {
	if !completes(hook) {
		return nil
	}
	paths, err := hook.Repo.StagedPaths(ctx, audit.EveryConversation)
	if err != nil {
		return err
	}
	for _, dir := range workspacesOf(pathsOf(paths)) {
		if !hook.changes(dir) {
			continue
		}
		kept, err := merge.KeptIn(ctx, hook.Repo, dir)
		if err != nil {
			return err
		}
		for _, k := range kept {
			if err := k.Restore(ctx, hook.Repo); err != nil {
				return err
			}
			note("git jp: %s", k)
		}
	}
	return nil
}

// warnKept names the files of such conversations that the commit of a rebase lacks.
func (r *run) warnKept(ctx context.Context, hook served) error {
	if !hook.Repo.InProgress("rebase-merge") {
		return nil
	}
	dirs, err := indexed(ctx, hook.Repo)
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		kept, err := merge.KeptByRebase(ctx, hook.Repo, dir)
		if err != nil {
			return err
		}
		for _, k := range kept {
			r.Warn("HEAD lacks %s of %s, which one side removed and the other changed",
				strings.Join(slices.Concat(k.Deleted, k.Redacted), ", "), k.ID)
			if len(k.Deleted) == 0 {
				continue
			}
			for _, command := range append(k.Commands(), "git commit --amend --no-edit") {
				r.Hint(command)
			}
		}
	}
	return nil
}
