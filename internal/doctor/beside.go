package doctor

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/git-jp/git-jp/gitint"
)

// captures reports hooks of agents that another version installed: what has changed since is about
// sessions that are imported too early, or not at all.
func (d *examination) captures() {
	all := d.Captures()
	for _, agent := range slices.Sorted(maps.Keys(all)) {
		d.add("agent", fmt.Sprintf("the hooks of %s in %s are not those of this version",
			agent, d.Short(all[agent])), "git jp capture "+agent)
	}
}

// worktrees reports those that cannot be read: what they refer to is unknown, so a collection
// deletes nothing.
func (d *examination) worktrees(ctx context.Context, repo *gitint.Repo) error {
	all, err := repo.Worktrees(ctx)
	for _, w := range all {
		if w.Unknown != "" {
			d.add("repository", fmt.Sprintf("%s: %s; 'git jp gc' deletes nothing because of it",
				w.Title(), w.Unknown), nextOf(w))
		}
	}
	return err
}

// nextOf returns the command for a worktree that cannot be read, "" if it depends.
func nextOf(w gitint.Worktree) string {
	_, err := os.Lstat(filepath.Join(w.GitDir, "locked"))
	switch isLocked := err == nil; {
	case w.Name == "":
		return "git config core.worktree"
	case !w.Gone:
		return "git worktree repair"
	case isLocked:
		return "" // it may be on a drive that is not mounted
	default:
		return "git worktree prune"
	}
}
