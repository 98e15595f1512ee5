package audit

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/render"
)

// Lost adds to a report what merges among commits left out of conversations, unless the tips have
// it. With incomplete history the sides of a merge may be missing.
func (a Auditor) Lost(
	ctx context.Context, report *check.Report, commits []gitint.Commit, tips []gitint.OID,
) error {
	review := merge.Review{Repo: a.Repo, Tips: tips, Finder: finder()}
	for _, commit := range commits {
		if len(commit.Parents) < 2 {
			continue
		}
		lost, err := review.Lost(ctx, commit)
		if err != nil && len(a.Repo.Incomplete()) > 0 && ctx.Err() == nil {
			continue
		}
		if err != nil {
			return err
		}
		for _, f := range lostFindings(commit.OID, lost) {
			report.Add(f)
		}
	}
	return nil
}

// heads returns the commits that are not ancestors of the others.
func heads(commits []gitint.Commit) []gitint.OID {
	parent := make(map[gitint.OID]bool)
	for _, c := range commits {
		for _, p := range c.Parents {
			parent[p] = true
		}
	}
	var tips []gitint.OID
	for _, c := range commits {
		if !parent[c.OID] {
			tips = append(tips, c.OID)
		}
	}
	return tips
}

// Waiting returns what the merge that waits for its commit leaves out of the index, except what a
// person decided with resolve.
func (a Auditor) Waiting(ctx context.Context) ([]check.Finding, error) {
	heads, err := a.Repo.MergeHeads()
	if err != nil || len(heads) == 0 {
		return nil, err
	}
	parents, err := merge.Underway(ctx, a.Repo)
	if err != nil || len(parents) < 2 {
		return nil, err
	}
	decided, err := merge.DecidedIn(a.Repo, heads)
	if err != nil {
		return nil, err
	}
	losses, err := a.losing(ctx, parents)
	if err != nil {
		return nil, err
	}
	losses = slices.DeleteFunc(losses, func(l merge.Loss) bool {
		return slices.Contains(decided, l.Conversation)
	})
	if len(losses) == 0 {
		return nil, nil
	}
	next, err := a.nextOfWaiting(ctx)
	return lists.Map(losses, func(l merge.Loss) check.Finding {
		f := LossFinding(check.IndexName, l)
		f.Next = next
		return f
	}), err
}

// losing returns what the index lacks of a merge, nothing while files of a workspace are unmerged:
// they may have it.
func (a Auditor) losing(ctx context.Context, parents []gitint.OID) ([]merge.Loss, error) {
	index, err := a.Repo.Index(ctx)
	if err != nil || len(merge.Unmerged(index)) > 0 {
		return nil, err
	}
	dirs, err := merge.Workspaces(ctx, finder(), a.Repo, index, parents)
	if err != nil {
		return nil, err
	}
	m := merge.Merge{Repo: a.Repo, Parents: parents, Dirs: dirs}
	if err := m.Need(ctx, index); err != nil {
		return nil, err
	}
	return m.Losses(ctx, index)
}

// nextOfWaiting says how to get back what a waiting merge leaves out. Git calls a merge failed, and
// lets a commit conclude it, which could not write the index when it began, because another process
// was writing it. Then the files that are no conversations are left out, too, and no command of
// ours restores them.
func (a Auditor) nextOfWaiting(ctx context.Context) (string, error) {
	staged, err := a.Repo.StagedPaths(ctx)
	if len(staged) == 0 {
		return "nothing of the other side is in the index; unless that is meant, " +
			"'git merge --abort' and merge again", err
	}
	return "once it is committed, 'git jp resolve --restore HEAD' restores it", err
}

// lostFindings returns the findings for the losses of a merge.
func lostFindings(commit gitint.OID, lost merge.Lost) []check.Finding {
	var all []check.Finding
	for _, l := range lost.Losses {
		f := LossFinding(commit.String(), l)
		f.Next = fmt.Sprintf("git jp resolve --restore %.12s", commit)
		if lost.Old {
			f.Severity = check.Warning
		}
		all = append(all, f)
	}
	return all
}

// LossFinding returns the finding for a loss of a merge.
func LossFinding(source string, l merge.Loss) check.Finding {
	what := render.Count(len(l.Elements), "event") + " of " + render.Count(l.Turns, "turn")
	why := ": its parent %s has it, and no side removed it"
	switch {
	case l.Removed:
		why = " that its parent %s added to the conversation, which another parent removed"
	case l.Gone:
		what = "the conversation, with " + what
	}
	return check.Finding{
		State: check.Lost, Commit: source, Path: l.Path, Line: 1, Element: -1,
		Conversation: l.Conversation.String(),
		Detail:       "the merge left out " + what + fmt.Sprintf(why, l.Side.String()[:12]),
	}
}
