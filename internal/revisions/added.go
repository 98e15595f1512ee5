package revisions

import (
	"context"
	"path"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Changing returns the commits that changed conversations in directories .jp, the newest first, of
// those that a revision has behind it; so many at most, all for 0.
func Changing(
	ctx context.Context, repo *gitint.Repo, most int, rev string, dirs ...string,
) ([]gitint.Revision, error) {
	return touching(ctx, repo, gitint.HistoryRequest{Revs: []string{rev}, Count: most}, "*", dirs)
}

// touching returns commits that changed files of a name.
func touching(
	ctx context.Context, repo *gitint.Repo, q gitint.HistoryRequest, name string, dirs []string,
) ([]gitint.Revision, error) {
	for _, dir := range dirs {
		q.Globs = append(q.Globs, path.Join(dir, workspace.Live.Dir(), "**", name))
	}
	if len(q.Globs) == 0 {
		return nil, nil // without one git has no bounds
	}
	return repo.History(ctx, q)
}

// Added returns the commits that brought the conversations in directories .jp first, of those that
// a revision has behind it.
func Added(
	ctx context.Context, repo *gitint.Repo, rev string, dirs ...string,
) (map[events.ID]gitint.LogEntry, error) {
	q := gitint.HistoryRequest{Revs: []string{rev}}
	all, err := touching(ctx, repo, q, workspace.MetadataFile, dirs)
	if err != nil {
		return nil, err
	}
	first := make(map[events.ID]gitint.LogEntry)
	cut := make(map[gitint.OID]bool)
	for _, r := range all { // the newest first: the last one that adds it is the first
		for _, f := range r.Files {
			id, ok := events.ParseDirname(path.Base(path.Dir(f.Path)))
			if ok && f.Old.IsZero() && !f.New.IsZero() {
				first[id] = r.LogEntry
			}
		}
	}
	for id, commit := range first {
		is, known := cut[commit.OID]
		if !known {
			if _, is, err = repo.Parent(ctx, commit.OID); err != nil {
				return nil, err
			}
			cut[commit.OID] = is
		}
		if is {
			delete(first, id) // it may have had them from its parent
		}
	}
	return first, nil
}
