package repair

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

// PlanUnion is [MakePlan] for the directories with one of these ids only, and reads nothing else.
func PlanUnion(ctx context.Context, o Options, ids []events.ID) (*Plan, error) {
	m, err := newPlanner(o)
	if err != nil {
		return nil, err
	}
	m.entries = slices.DeleteFunc(m.entries, func(e workspace.Entry) bool {
		return !slices.Contains(ids, e.ID)
	})
	if err := m.duplicates(ctx); err != nil {
		return nil, fmt.Errorf("plan a repair: %w", err)
	}
	return m.plan, nil
}

// newPlanner lists the conversations. Faults of directories are found by the check as well.
func newPlanner(o Options) (*planner, error) {
	m := &planner{Options: &o, plan: &Plan{options: &o}}
	m.plan.kept = newKeeper(&o)
	dir, err := regular.OpenRoot(o.Workspace.Root())
	if err != nil {
		return nil, err
	}
	defer dir.Close() //nolint:errcheck // was only read
	m.entries, _, err = workspace.Scan(regular.In(dir), workspace.DirName)
	return m, err
}
