package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/hooks"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/merge"
)

// trialDrivers registers the drivers for one merge that is only tried.
func trialDrivers() []string {
	var settings []string
	for _, d := range hooks.Drivers() {
		settings = append(settings,
			d.MergeKey()+"=git-jp merge-driver --trial "+d.Kind+" %O %A %B %P %L")
	}
	return settings
}

// merged checks what a merge of two revisions would come to. What is wrong with one of them
// already is not the merge's doing.
func (ch checking) merged(ctx context.Context, ours, theirs string) (*check.Report, error) {
	sides, err := ch.resolve(ctx, ours, theirs)
	if err != nil {
		return nil, err
	}
	m, err := ch.repo.MergeTree(ctx, sides[0].String(), sides[1].String(), trialDrivers()...)
	if err != nil {
		return nil, err
	}
	tree, err := ch.repo.Tree(ctx, m.Tree.String())
	if err != nil {
		return nil, err
	}
	report, err := ch.snapshot(ctx, tree)
	if err != nil {
		return nil, err
	}
	for _, id := range sides {
		before, err := ch.revisionOnly(ctx, id)
		if err != nil {
			return nil, err
		}
		report.Without(before)
	}
	found, err := ch.app.blendedBy(ctx, ch.repo,
		gitint.Commit{OID: m.Tree, Parents: sides}, ch.dirsOf(tree))
	if err != nil {
		return nil, err
	}
	for _, f := range append(found, conflictsOf(m, theirs)...) {
		report.Add(f)
	}
	return report, nil
}

// resolve returns the commits of revisions.
func (ch checking) resolve(ctx context.Context, revs ...string) ([]gitint.OID, error) {
	ids := make([]gitint.OID, len(revs))
	for i, rev := range revs {
		var err error
		ids[i], err = ch.repo.Resolve(ctx, rev)
		if errors.Is(err, gitint.ErrUnknownRevision) {
			return nil, newRevisionError(ch.repo, "check "+rev+": unknown revision")
		}
		if err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// squashOf checks a commit that squashed a branch, as the merge of the branch that it stands for.
func (ch checking) squashOf(ctx context.Context, rev, branch string) (*check.Report, error) {
	ids, err := ch.resolve(ctx, rev, branch)
	if err != nil {
		return nil, err
	}
	report, err := ch.revisionOnly(ctx, ids[0])
	if err != nil {
		return nil, err
	}
	commits, err := ch.repo.Commits(ctx, ids[0].String()+"^!")
	if err != nil {
		return nil, err
	}
	if len(commits[0].Parents) != 1 {
		return nil, fmt.Errorf("check %s: it is no commit with one parent", rev)
	}
	return report, ch.squashes(ctx, report, commits, ids[:1], map[gitint.OID][]gitint.OID{
		ids[0]: ids[1:],
	})
}

// squashes adds to a report what is wrong with those of the commits that squashed another, of
// which the tips are to have what is lost. To merge what was squashed brings that back.
func (ch checking) squashes(
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
		if err := ch.merges(ctx, &found, []gitint.Commit{c}, tips); err != nil {
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

// seemingSquashes adds to a report, as warnings, what is wrong with commits that seem to have
// squashed a branch, except those of which it is known. Where history is not all here nothing
// can be told.
func (ch checking) seemingSquashes(
	ctx context.Context, report *check.Report, commits []gitint.Commit, tips []gitint.OID,
	known map[gitint.OID][]gitint.OID,
) error {
	if len(tips) != 1 || len(ch.repo.Incomplete()) > 0 {
		return nil
	}
	tree, err := ch.repo.Tree(ctx, tips[0].String())
	if err != nil {
		return err
	}
	seeming, err := merge.Squashes(ctx, ch.repo, tips[0], commits, ch.dirsOf(tree))
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
		if err := ch.squashes(ctx, &found, []gitint.Commit{c}, tips, of); err != nil {
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

// mergeEach is the command that merges commits, one after the other: of all at once git makes an
// octopus, which runs no drivers.
func mergeEach(commits []gitint.OID) string {
	all := make([]string, len(commits))
	for i, c := range commits {
		all[i] = fmt.Sprintf("git merge %.12s", c)
	}
	return strings.Join(all, " && ")
}

// revisionOnly checks a revision as a tree.
func (ch checking) revisionOnly(ctx context.Context, id gitint.OID) (*check.Report, error) {
	tree, err := ch.repo.Tree(ctx, id.String())
	if err != nil {
		return nil, err
	}
	return ch.snapshot(ctx, tree)
}

func (checking) dirsOf(snap gitint.Snapshot) []string {
	dirs, err := newDirFinder().find(snap)
	if err != nil {
		return nil // the check of the same tree has said so
	}
	return dirs
}

// conflictsOf are the conversations' files that a person would have to decide.
func conflictsOf(m *gitint.MergedTree, theirs string) []check.Finding {
	var all []check.Finding
	names := slices.Clone(m.Unmerged)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if _, ok := workspaceOf(name); !ok {
			continue
		}
		f := check.Finding{
			State: check.Conflicted, Commit: m.Tree.String(), Path: name, Line: 1, Element: -1,
			Detail: "would be unmerged: both sides changed it, and a person has to decide",
			Next:   "git merge " + check.ShellQuote(theirs),
		}
		if id, ok := events.ParseDirname(path.Base(path.Dir(name))); ok {
			f.Conversation = id.String()
		}
		all = append(all, f)
	}
	return all
}
