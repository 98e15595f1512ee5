package revisions

import (
	"context"
	"path"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Added returns the commits that brought the conversations of directories .jp first, of those that
// a revision has behind it.
func Added(
	ctx context.Context, repo *gitint.Repo, rev string, dirs ...string,
) (map[events.ID]gitint.LogEntry, error) {
	q := gitint.HistoryRequest{Revs: []string{rev}}
	for _, dir := range dirs {
		below := path.Join(dir, workspace.Live.Dir(), "**", workspace.MetadataFile)
		q.Globs = append(q.Globs, below)
	}
	all, err := repo.History(ctx, q)
	if err != nil {
		return nil, err
	}
	first := make(map[events.ID]gitint.LogEntry)
	for _, r := range all { // the newest first: the last one that adds it is the first
		for _, f := range r.Files {
			id, ok := events.ParseDirname(path.Base(path.Dir(f.Path)))
			if ok && f.Old.IsZero() && !f.New.IsZero() {
				first[id] = r.LogEntry
			}
		}
	}
	return first, nil
}
