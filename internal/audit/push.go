package audit

import (
	"context"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// EveryConversation, EveryBlob and EveryRedaction are pathspecs that match all conversations, all
// blobs and all redaction entries.
const (
	EveryConversation = "**/" + workspace.DirName + "/conversations"
	EveryBlob         = "**/" + workspace.DirName + "/" + blobs.Dir
	EveryRedaction    = "**/" + workspace.DirName + "/" + secrets.RedactedDir
)

// A Push holds the commits of a push.
type Push struct {
	gitint.PushRange
	Commits []gitint.Commit // those that touch conversations
}

// NewPush lists the commits of a push.
func NewPush(ctx context.Context, repo *gitint.Repo, r gitint.PushRange) (Push, error) {
	touching := r
	touching.Under = []string{EveryConversation, EveryBlob}
	commits, err := repo.PushedCommits(ctx, touching)
	return Push{r, commits}, err
}

// Push checks the commits of a push. It reports only faults that the receiver does not have
// already.
func (a Auditor) Push(ctx context.Context, p Push) (*check.Report, error) {
	report, err := a.several(ctx, revisionsOf(p.Commits))
	if err == nil {
		err = a.pushedMerges(ctx, report, p)
	}
	if err != nil || !report.Problems() {
		return report, err
	}
	all, err := a.Repo.PushedCommits(ctx, p.PushRange)
	if err != nil {
		return nil, err
	}
	a.Secrets = nil // known secrets are not reported
	base, err := a.several(ctx, revisions{all: boundary(all)})
	if err != nil {
		return nil, err
	}
	report.Without(base)
	return report, nil
}

// pushedMerges checks the merges among the commits of a push.
func (a Auditor) pushedMerges(ctx context.Context, report *check.Report, p Push) error {
	if !slices.ContainsFunc(p.Commits, isMerge) {
		return nil
	}
	tips, err := a.tips(ctx, p)
	if err != nil {
		return err
	}
	return a.merges(ctx, report, p.Commits, tips)
}

// Removed returns a warning for each redaction entry that a commit of a push removes and no tip
// has.
func (a Auditor) Removed(ctx context.Context, p Push) ([]check.Finding, error) {
	tips, err := a.tips(ctx, p)
	if err != nil {
		return nil, err
	}
	report := &check.Report{}
	err = a.removed(ctx, report, p.Commits, tips)
	return report.Findings, err
}

func (a Auditor) tips(ctx context.Context, p Push) ([]gitint.OID, error) {
	tips := make([]gitint.OID, len(p.Tips))
	for i, tip := range p.Tips {
		var err error
		if tips[i], err = a.Repo.Resolve(ctx, tip); err != nil {
			return nil, err
		}
	}
	return tips, nil
}

func commitIDs(commits []gitint.Commit) []string {
	return lists.Map(commits, func(c gitint.Commit) string { return c.OID.String() })
}

// boundary returns the parents that are not among the commits.
func boundary(commits []gitint.Commit) []string {
	among := lists.Set(lists.Map(commits, func(c gitint.Commit) gitint.OID { return c.OID }))
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
