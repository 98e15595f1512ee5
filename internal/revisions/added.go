package revisions

import (
	"context"
	"path"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Changing returns the ancestors of a revision that changed conversations in directories .jp,
// newest first, and at most the given number, where 0 means all.
func Changing(
	ctx context.Context, repo *gitint.Repo, most int, rev string, dirs ...string,
) ([]gitint.Revision, error) {
	return touching(ctx, repo, gitint.HistoryRequest{Revs: []string{rev}, Count: most}, "*", dirs)
}

// touching returns commits that changed files with a name.
func touching(
	ctx context.Context, repo *gitint.Repo, q gitint.HistoryRequest, name string, dirs []string,
) ([]gitint.Revision, error) {
	for _, dir := range dirs {
		q.Globs = append(q.Globs, path.Join(dir, workspace.Live.Dir(), "**", name))
	}
	if len(q.Globs) == 0 {
		return nil, nil // without a pathspec git would list everything
	}
	return repo.History(ctx, q)
}

// Added returns, of the ancestors of a revision, the commits that first added the conversations in
// directories .jp.
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
	for _, r := range all { // newest first, so the last one that adds it is the first commit
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
			delete(first, id) // the missing parent may have had them
		}
	}
	return first, nil
}
