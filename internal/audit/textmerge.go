package audit

import (
	"context"
	"fmt"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/render"
)

// TextMerges returns the findings for conversations that a commit merged as text. It returns none
// for a commit that is no merge.
func TextMerges(
	ctx context.Context, repo *gitint.Repo, commit gitint.Commit, dirs []string,
) ([]check.Finding, error) {
	if len(commit.Parents) < 2 || len(dirs) == 0 {
		return nil, nil
	}
	tree, err := repo.Tree(ctx, commit.OID.String())
	if err != nil {
		return nil, err
	}
	m := merge.Merge{Repo: repo, Parents: commit.Parents, Dirs: dirs}
	files, err := m.MergedFiles(ctx, tree)
	if err != nil {
		return nil, fmt.Errorf("look into merge %s: %w", commit.OID, err)
	}
	return TextMergeFindings(commit.OID.String(), files), nil
}

// TextMergeFindings returns the findings for files that git merged as text, without their driver.
func TextMergeFindings(source string, files []merge.MergedFile) []check.Finding {
	var all []check.Finding
	for _, b := range files {
		if b.Conversation == 0 {
			continue // a blob, which is reported if it cannot be restored
		}
		f := check.Finding{
			State: check.TextMerged, Commit: source, Path: b.Path, Line: 1, Element: -1,
			Conversation: b.Conversation.String(),
		}
		switch {
		case b.Outcome == merge.Altered:
			f.Severity = check.Warning
			f.Detail = "is not the merge of its sides, and has lines that neither of them has"
		case b.Outcome == merge.Misplaced:
			f.Detail = "has what another conversation has: git took one for the other"
		case b.Outcome == merge.TextMerged && b.Conflicts > 0:
			f.Detail = "was put together from the lines of both sides, with " +
				render.Count(b.Conflicts, "undecided conflict")
		case b.Outcome == merge.TextMerged:
			f.Detail = "was put together from the lines of both sides, without its driver"
		default:
			continue
		}
		all = append(all, f)
	}
	return all
}

// merges adds to a report the faults of the merges among commits, unless the tips have the lost
// elements.
func (a Auditor) merges(
	ctx context.Context, report *check.Report, commits []gitint.Commit, tips []gitint.OID,
) error {
	if err := a.textMerges(ctx, report, commits); err != nil {
		return err
	}
	return a.Lost(ctx, report, commits, tips)
}

// textMerges adds to a report the textual merges among commits. In a shallow or partial clone their
// sides may be missing, which the report notes already.
func (a Auditor) textMerges(
	ctx context.Context, report *check.Report, commits []gitint.Commit,
) error {
	finder := finder()
	for _, commit := range commits {
		if len(commit.Parents) < 2 {
			continue
		}
		tree, err := a.Repo.Tree(ctx, commit.OID.String())
		if err != nil {
			return err
		}
		dirs, err := finder.Find(tree)
		if err != nil {
			return err
		}
		found, err := TextMerges(ctx, a.Repo, commit, dirs)
		if err != nil && len(a.Repo.Incomplete()) > 0 && ctx.Err() == nil {
			continue
		}
		if err != nil {
			return err
		}
		for _, f := range found {
			report.Add(f)
		}
	}
	return nil
}
