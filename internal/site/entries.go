package site

import (
	"context"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/view"
	"github.com/git-jp/git-jp/internal/workspace"
)

// EntriesOf returns the conversations of a workspace, archived ones too if requested. Imported
// sessions are archived from the beginning, and always included.
func EntriesOf(
	ctx context.Context, w *workspace.Workspace, archived bool,
) ([]Entry, error) {
	list, _, err := w.List(workspace.ListOptions{Archived: true})
	if err != nil {
		return nil, err
	}
	if err := w.Expect(ctx, list); err != nil {
		return nil, err
	}
	var all []Entry
	for _, e := range list {
		entry := Entry{ID: e.ID}
		entry.Load = func() (*workspace.Conversation, view.Conversation, error) {
			return view.Load(w, e)
		}
		if d, err := w.LoadDetails(e); err == nil {
			entry.Session = d.Labels[sessions.LabelSession]
		}
		if e.Partition == workspace.Live || archived || entry.Session != "" {
			all = append(all, entry)
		}
	}
	return all, nil
}

// HistoryOf returns the commits whose turns have pages, nil if there are none, or if what a commit
// added is not here, which is noted.
func HistoryOf(
	ctx context.Context, repo *gitint.Repo, rev string, dirs []string,
	note func(format string, args ...any),
) *History {
	if len(dirs) == 0 {
		return nil
	}
	if _, err := repo.Resolve(ctx, rev+"^{commit}"); err != nil {
		return nil // nothing is committed
	}
	for _, i := range repo.Incomplete() {
		switch i.Reason {
		case gitint.ReasonShallow, gitint.ReasonGrafts:
			note("without pages of commits: %s", i.Detail)
			return nil
		}
	}
	return &History{Repo: repo, Rev: rev, Dirs: dirs}
}
