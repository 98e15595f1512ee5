package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/hooks/install"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Merge checks the result that a merge of two revisions would have. Faults that one of them already
// has are not reported.
func (a Auditor) Merge(ctx context.Context, ours, theirs string) (*check.Report, error) {
	sides, err := a.resolve(ctx, ours, theirs)
	if err != nil {
		return nil, err
	}
	m, err := a.Repo.MergeTree(ctx, sides[0].String(), sides[1].String(), install.TrialDrivers()...)
	if err != nil {
		return nil, err
	}
	tree, err := a.Repo.Tree(ctx, m.Tree.String())
	if err != nil {
		return nil, err
	}
	report, err := a.snapshot(ctx, tree)
	if err != nil {
		return nil, err
	}
	for _, id := range sides {
		before, err := a.revisionOnly(ctx, id)
		if err != nil {
			return nil, err
		}
		report.Without(before)
	}
	found, err := TextMerges(ctx, a.Repo,
		gitint.Commit{OID: m.Tree, Parents: sides}, dirsOf(tree))
	if err != nil {
		return nil, err
	}
	for _, f := range append(found, conflictsOf(m, theirs)...) {
		report.Add(f)
	}
	return report, nil
}

// resolve returns the commits of revisions.
func (a Auditor) resolve(ctx context.Context, revs ...string) ([]gitint.OID, error) {
	ids := make([]gitint.OID, len(revs))
	for i, rev := range revs {
		var err error
		ids[i], err = a.Repo.Resolve(ctx, rev)
		if errors.Is(err, gitint.ErrUnknownRevision) {
			return nil, NewRevisionError(a.Repo, "check "+rev+": unknown revision")
		}
		if err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// Squash checks a commit that squashed a branch as if it were a merge of that branch.
func (a Auditor) Squash(ctx context.Context, rev, branch string) (*check.Report, error) {
	ids, err := a.resolve(ctx, rev, branch)
	if err != nil {
		return nil, err
	}
	report, err := a.revisionOnly(ctx, ids[0])
	if err != nil {
		return nil, err
	}
	commits, err := a.Repo.Commits(ctx, ids[0].String()+"^!")
	if err != nil {
		return nil, err
	}
	if len(commits[0].Parents) != 1 {
		return nil, fmt.Errorf("check %s: it is not a commit with one parent", rev)
	}
	return report, a.squashes(ctx, report, commits, ids[:1], map[gitint.OID][]gitint.OID{
		ids[0]: ids[1:],
	})
}

// squashes adds to a report the faults of commits that squashed others, unless the tips have the
// lost elements. Merging the squashed commit restores it.
func (a Auditor) squashes(
	ctx context.Context, report *check.Report, commits []gitint.Commit, tips []gitint.OID,
	of map[gitint.OID][]gitint.OID,
) error {
	for _, c := range commits {
		theirs, ok := of[c.OID]
		if !ok || len(c.Parents) != 1 {
			continue
		}
		c.Parents = append(slices.Clone(c.Parents), theirs...)
		var found check.Report
		if err := a.merges(ctx, &found, []gitint.Commit{c}, tips); err != nil {
			return err
		}
		for _, f := range found.Findings {
			if f.State == check.Lost {
				f.Next = mergeEach(theirs)
			}
			report.Add(f)
		}
	}
	return nil
}

// seemingSquashes adds to a report, as warnings, the faults of commits that seem to have squashed a
// branch, except those that are known to. With incomplete history nothing can be found out.
func (a Auditor) seemingSquashes(
	ctx context.Context, report *check.Report, commits []gitint.Commit, tips []gitint.OID,
	known map[gitint.OID][]gitint.OID,
) error {
	if len(tips) != 1 || len(a.Repo.Incomplete()) > 0 {
		return nil
	}
	tree, err := a.Repo.Tree(ctx, tips[0].String())
	if err != nil {
		return err
	}
	seeming, err := merge.Squashes(ctx, a.Repo, tips[0], commits, dirsOf(tree))
	if err != nil {
		return err
	}
	for _, c := range commits {
		squash, ok := seeming[c.OID]
		if _, told := known[c.OID]; told || !ok {
			continue
		}
		var found check.Report
		of := map[gitint.OID][]gitint.OID{c.OID: {squash.Of}}
		if err := a.squashes(ctx, &found, []gitint.Commit{c}, tips, of); err != nil {
			return err
		}
		for _, f := range found.Findings {
			f.Severity = check.Warning
			f.Detail += "; the other files are those of a squash of " + squash.Short()
			report.Add(f)
		}
	}
	return nil
}

// mergeEach returns the command that merges commits one after the other: merging all at once would
// be an octopus merge, for which git runs no drivers.
func mergeEach(commits []gitint.OID) string {
	all := lists.Map(commits, func(c gitint.OID) string {
		return fmt.Sprintf("git merge %.12s", c)
	})
	return strings.Join(all, " && ")
}

// revisionOnly checks a revision as a tree only, even if it is a merge.
func (a Auditor) revisionOnly(ctx context.Context, id gitint.OID) (*check.Report, error) {
	tree, err := a.Repo.Tree(ctx, id.String())
	if err != nil {
		return nil, err
	}
	return a.snapshot(ctx, tree)
}

func dirsOf(snap gitint.Snapshot) []string {
	dirs, err := finder().Find(snap)
	if err != nil {
		return nil // the check of the same tree reports it
	}
	return dirs
}

// conflictsOf returns findings for the files of conversations that a person would have to decide.
func conflictsOf(m *gitint.MergedTree, theirs string) []check.Finding {
	var all []check.Finding
	names := slices.Clone(m.Unmerged)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if _, ok := workspace.PathDir(name); !ok {
			continue
		}
		f := check.Finding{
			State: check.Conflicted, Commit: m.Tree.String(), Path: name, Line: 1, Element: -1,
			Detail: "would be unmerged: both sides changed it, and a person has to decide",
			Next:   "git merge " + check.ShellQuote(theirs),
		}
		if id, ok := workspace.PathID(name); ok {
			f.Conversation = id.String()
		}
		all = append(all, f)
	}
	return all
}
