package audit

import (
	"context"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/workspace"
)

// EveryConversation and EveryBlob are what a push without conversations does not touch, as git has
// it.
const (
	EveryConversation = "**/" + workspace.DirName + "/conversations"
	EveryBlob         = "**/" + workspace.DirName + "/" + blobs.Dir
)

// A Departure is commits that touch conversations and are about to be had by others.
type Departure struct {
	gitint.Departure
	Commits []gitint.Commit // those that touch conversations
}

// NewDeparture looks for the commits of a departure.
func NewDeparture(
	ctx context.Context, repo *gitint.Repo, d gitint.Departure,
) (Departure, error) {
	touching := d
	touching.Under = []string{EveryConversation, EveryBlob}
	commits, err := repo.Departing(ctx, touching)
	return Departure{d, commits}, err
}

// Departing checks the commits of a departure. What the others have already, dangling or
// not, is not held against it.
func (a Auditor) Departing(ctx context.Context, d Departure) (*check.Report, error) {
	report, err := a.several(ctx, commitIDs(d.Commits))
	if err == nil {
		err = a.departingMerges(ctx, report, d)
	}
	if err != nil || !report.Problems() {
		return report, err
	}
	all, err := a.Repo.Departing(ctx, d.Departure)
	if err != nil {
		return nil, err
	}
	base, err := a.several(ctx, boundary(all))
	if err != nil {
		return nil, err
	}
	report.Without(base)
	return report, nil
}

// departingMerges looks at the merges among the commits of a departure.
func (a Auditor) departingMerges(
	ctx context.Context, report *check.Report, d Departure,
) error {
	if !slices.ContainsFunc(d.Commits, isMerge) {
		return nil
	}
	tips := make([]gitint.OID, len(d.Tips))
	for i, tip := range d.Tips {
		var err error
		if tips[i], err = a.Repo.Resolve(ctx, tip); err != nil {
			return err
		}
	}
	return a.merges(ctx, report, d.Commits, tips)
}

func commitIDs(commits []gitint.Commit) []string {
	ids := make([]string, len(commits))
	for i, c := range commits {
		ids[i] = c.OID.String()
	}
	return ids
}

// boundary returns the parents that are not among the commits.
func boundary(commits []gitint.Commit) []string {
	among := make(map[gitint.OID]bool, len(commits))
	for _, c := range commits {
		among[c.OID] = true
	}
	var ids []string
	for _, c := range commits {
		for _, p := range c.Parents {
			if !among[p] {
				among[p] = true
				ids = append(ids, p.String())
			}
		}
	}
	return ids
}

func isMerge(c gitint.Commit) bool { return len(c.Parents) > 1 }
