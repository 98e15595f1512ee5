package repair

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/lists"
)

// findHolders finds out who may still have the lost content: the last author of a change to the
// conversation, and the remotes, as far as they were fetched.
func (m *planner) findHolders(ctx context.Context) error {
	s, err := newSearch(m.Sources, nil, nil)
	if err != nil || s.Repo == nil {
		return err
	}
	var remotes []string
	known := make(map[events.ID][]string)
	for _, f := range m.plan.Faults {
		if f.Outcome != Gone {
			continue
		}
		if remotes == nil {
			if remotes, err = m.remotes(ctx, s.Repo); err != nil {
				return err
			}
		}
		if _, ok := known[f.Conversation]; !ok {
			if known[f.Conversation], err = s.authors(ctx, f.Conversation); err != nil {
				return err
			}
		}
		f.Holders = slices.Concat(known[f.Conversation], remotes)
	}
	return nil
}

func (m *planner) remotes(ctx context.Context, repo *gitint.Repo) ([]string, error) {
	names, err := repo.Remotes(ctx)
	if err != nil {
		return nil, err
	}
	titles := []string{}
	for _, name := range names {
		if !slices.Contains(m.Fetched, name) {
			titles = append(titles, "remote "+name+", which was not asked")
		}
	}
	return titles, nil
}

// authors returns who committed the conversation last.
func (s *search) authors(ctx context.Context, id events.ID) ([]string, error) {
	last, err := s.Repo.History(ctx, gitint.HistoryRequest{
		All: true, Count: 1, Globs: []string{conversationGlob(s.own, id)},
	})
	if err != nil {
		return nil, err
	}
	return lists.Map(last, func(rev gitint.Revision) string {
		return fmt.Sprintf("%s, who committed the conversation last (%s)",
			rev.Author, rev.OID.String()[:12])
	}), nil
}
