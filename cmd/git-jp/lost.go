package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/render"
)

// lost adds to a report what merges among commits left out of conversations, as far as the tips
// do not have it. Where history is not all here their sides may not be either.
func (ch checking) lost(
	ctx context.Context, report *check.Report, commits []gitint.Commit, tips []gitint.OID,
) error {
	finder := newDirFinder()
	review := merge.Review{Repo: ch.repo, Tips: tips}
	for _, commit := range commits {
		if len(commit.Parents) < 2 {
			continue
		}
		dirs, err := ch.dirsOfSides(ctx, finder, commit)
		var lost merge.Lost
		if err == nil {
			lost, err = review.Lost(ctx, commit, dirs)
		}
		if err != nil && len(ch.repo.Incomplete()) > 0 && ctx.Err() == nil {
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

// dirsOfSides returns the workspaces of a merge and of what it merges: it may lack one.
func (ch checking) dirsOfSides(
	ctx context.Context, finder *dirFinder, commit gitint.Commit,
) (dirs []string, err error) {
	for _, id := range append([]gitint.OID{commit.OID}, commit.Parents...) {
		tree, err := ch.repo.Tree(ctx, id.String())
		if err != nil {
			return nil, err
		}
		more, err := finder.find(tree)
		if err != nil {
			return nil, err
		}
		dirs = union(dirs, more)
	}
	return dirs, nil
}

// heads returns the commits that no other of them goes on from.
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

// lostFindings are the findings about what a merge left out.
func lostFindings(commit gitint.OID, lost merge.Lost) []check.Finding {
	var all []check.Finding
	for _, l := range lost.Losses {
		f := lossFinding(commit.String(), l)
		f.Next = fmt.Sprintf("git jp resolve --restore %.12s", commit)
		if lost.Old {
			f.Severity = check.Warning
		}
		all = append(all, f)
	}
	return all
}

func lossFinding(source string, l merge.Loss) check.Finding {
	what := render.Count(len(l.Elements), "event") + " of " + render.Count(l.Turns, "turn")
	if l.Gone {
		what = "the conversation, with " + what
	}
	return check.Finding{
		State: check.Lost, Commit: source, Path: l.Path, Line: 1, Element: -1,
		Conversation: l.Conversation.String(),
		Detail: fmt.Sprintf("the merge left out %s: its parent %s has it, and no side removed it",
			what, l.Side.String()[:12]),
	}
}

// warnLost prints what merges that were just made, or came with a pull, left out, with the command
// that brings it back.
func (a *app) warnLost(ctx context.Context, hook served, came gitint.Departure) error {
	commits, err := hook.Repo.Departing(ctx, came) // a hook may have completed the last
	if err != nil {
		return err
	}
	head, err := hook.Repo.Resolve(ctx, "HEAD")
	if err != nil {
		return err
	}
	var report check.Report
	ch := checking{app: a, repo: hook.Repo}
	if err := ch.lost(ctx, &report, commits, []gitint.OID{head}); err != nil {
		return err
	}
	found := hook.checked(report.Findings)
	a.warnFindings(found)
	a.hintNext(found)
	return nil
}

// hintNext prints the commands of findings, each once.
func (a *app) hintNext(found []check.Finding) {
	seen := make(map[string]bool)
	for _, f := range found {
		if f.Next != "" && !seen[f.Next] {
			seen[f.Next] = true
			fmt.Fprintf(a.stderr, "hint: %s\n", printable(f.Next))
		}
	}
}

// warnLosing prints what the merge that waits for its commit is about to leave out, except what
// a person decided with resolve.
func (a *app) warnLosing(ctx context.Context, hook served) error {
	heads, err := hook.Repo.MergeHeads()
	if err != nil || len(heads) == 0 {
		return err
	}
	parents, err := merge.Underway(ctx, hook.Repo)
	if err != nil || len(parents) < 2 {
		return err
	}
	decided, err := merge.DecidedIn(hook.Repo, heads)
	if err != nil {
		return err
	}
	index, err := hook.Repo.Index(ctx)
	if err != nil {
		return err
	}
	dirs, err := newDirFinder().find(index)
	if err != nil {
		return err
	}
	m := merge.Merge{Repo: hook.Repo, Parents: parents, Dirs: dirs}
	losses, err := m.Losses(ctx, index)
	if err != nil {
		return err
	}
	var found []check.Finding
	for _, l := range losses {
		if !slices.Contains(decided, l.Conversation) {
			f := lossFinding(check.IndexName, l)
			f.Next = "once it is committed, 'git jp resolve --restore HEAD' brings it back"
			found = append(found, f)
		}
	}
	found = hook.checked(found)
	a.warnFindings(found)
	a.hintNext(found)
	return nil
}

// noteDecided says in the message of the merge that HEAD is what was decided of it, where git was
// given another message than the one in which that stood.
func (a *app) noteDecided(ctx context.Context, repo *gitint.Repo) error {
	if !merge.HasDecided(repo) || merge.Waits(repo) {
		return nil
	}
	head, err := repo.Resolve(ctx, "HEAD")
	if err != nil {
		return err
	}
	parents, err := merge.Parents(ctx, repo, head)
	if err != nil || len(parents) < 2 {
		return err
	}
	ids, err := merge.DecidedIn(repo, parents[1:])
	if err != nil || len(ids) == 0 {
		return err
	}
	_, err = repo.TrailHead(ctx, head, merge.Trailers(ids), "git jp: say what was decided")
	if err != nil {
		return fmt.Errorf("%w; 'git jp resolve --accept HEAD' says it in a commit of its own", err)
	}
	return merge.ForgetDecided(repo)
}
