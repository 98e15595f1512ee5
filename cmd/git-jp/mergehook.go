package main

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/hooks"
	"github.com/git-jp/git-jp/internal/audit"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/repair"
	"github.com/git-jp/git-jp/internal/stage"
	"github.com/git-jp/git-jp/internal/workspace"
)

// errMended says that a merge waits with what it was lacking. Git has made the tree of the
// merge before it asks the hook, so that what the hook changes would not be part of it.
var errMended = errors.New("the merge of conversations was fixed and is not committed yet")

// preMergeCommit does for a merge what pre-commit does for a commit, and puts what the
// drivers make of the sides in the place of what git blended without them.
func (c hookCmd) preMergeCommit(ctx context.Context, a *app) error {
	hook, err := c.hook(ctx, a)
	var paths []gitint.StagedPath
	if err == nil {
		paths, err = hook.Repo.StagedPaths(ctx, audit.EveryConversation, audit.EveryBlob)
	}
	if err == nil && len(paths) == 0 {
		err = hook.Settle(ctx)
		paths = nil
	}
	var verdict *stage.Verdict
	var was unblended
	if err == nil && len(paths) > 0 {
		if was, err = c.unblendUnderway(ctx, a, hook, paths); err == nil {
			verdict, err = c.restoring(ctx, a, hook)
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		a.warn("pre-merge-commit: conversations were not checked: %v", err)
		return nil
	case verdict == nil:
		return nil
	}
	verdict.Blocking = append(verdict.Blocking, was.damaged...)
	if err := c.tell(ctx, a, hook, verdict); err != nil {
		return err
	}
	if was.mended || len(verdict.Added) > 0 {
		return errMended
	}
	return nil
}

// An unblended says what became of a merge that was looked at.
type unblended struct {
	mended  bool
	damaged []check.Finding // what is not mended and must not be committed
}

// unblendUnderway is unblend for the merge that git is about to commit.
func (c hookCmd) unblendUnderway(
	ctx context.Context, a *app, hook served, paths []gitint.StagedPath,
) (unblended, error) {
	parents, err := merge.Underway(ctx, hook.Repo)
	if err != nil {
		return unblended{}, err
	}
	return c.unblend(ctx, a, hook, parents, paths)
}

// unblend mends what git blended in the index, says so, and says what it cannot mend.
func (c hookCmd) unblend(
	ctx context.Context, a *app, hook served, parents []gitint.OID, paths []gitint.StagedPath,
) (unblended, error) {
	if len(parents) < 2 {
		return unblended{}, nil
	}
	index, err := hook.Repo.Index(ctx)
	if err != nil {
		return unblended{}, err
	}
	m := merge.Merge{Repo: hook.Repo, Parents: parents, Dirs: workspacesOf(paths)}
	blends, err := m.Blends(ctx, index)
	if err != nil {
		return unblended{}, err
	}
	damaged, err := m.Blobs(ctx, index, pathsOf(paths))
	if err != nil {
		return unblended{}, err
	}
	blends = append(blends, damaged...)
	mended, err := merge.Mend(ctx, hook.Repo, index, hook.replaceable(blends))
	for _, b := range mended {
		a.note("git jp: %s: git had merged it as text, without its driver; merged again", b.Path)
	}
	found := audit.BlendFindings(check.IndexName, blendsLeft(blends, mended))
	u := unblended{mended: len(mended) > 0, damaged: hook.refused(found)}
	a.warnFindings(slices.DeleteFunc(found, func(f check.Finding) bool {
		return slices.Contains(u.damaged, f)
	}))
	if err == nil {
		err = c.bringWhole(ctx, a, hook, blendsLeft(damaged, mended), &u)
	}
	return u, err
}

// bringWhole brings damaged content back from wherever this repository has it whole, and
// reports the rest.
func (c hookCmd) bringWhole(
	ctx context.Context, a *app, hook served, damaged []merge.Blend, u *unblended,
) error {
	if len(damaged) == 0 {
		return nil
	}
	var lost []check.Finding
	for _, b := range damaged {
		hash, _ := merge.HashAt(b.Path)
		lost = append(lost, check.Finding{
			State: check.Missing, Path: b.Path, Hash: hash, Element: -1,
		})
	}
	restored, err := a.restoreLost(ctx, hook, lost)
	if err != nil {
		return err
	}
	if len(restored) > 0 {
		change := gitint.Change{Add: restored, LockTimeout: gitint.NoWait}
		if _, err := hook.Repo.Stage(ctx, change); err != nil {
			return err
		}
		u.mended = true
	}
	for _, f := range lost {
		if !slices.Contains(restored, f.Path) {
			f.State, f.Severity, f.Commit = check.Corrupt, check.Error, check.IndexName
			f.Detail = "is not the content of its name: the merge put another one there"
			u.damaged = append(u.damaged, f)
		}
	}
	return nil
}

func pathsOf(all []gitint.StagedPath) []string {
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.Path
	}
	return names
}

// blendsLeft are the blends that were not mended.
func blendsLeft(blends, mended []merge.Blend) []merge.Blend {
	return slices.DeleteFunc(slices.Clone(blends), func(b merge.Blend) bool {
		return slices.ContainsFunc(mended, func(m merge.Blend) bool { return m.Path == b.Path })
	})
}

// union returns the elements of both, sorted, each once.
func union(a, b []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

// blobIn is the path of a blob in a workspace.
func blobIn(dir string, h blobs.Hash) string { return path.Join(dir, blobs.Dir, h.Path()) }

// workspacesOf returns the directories .jp in which paths lie, sorted.
func workspacesOf(paths []gitint.StagedPath) []string {
	var dirs []string
	for _, p := range paths {
		if dir, ok := workspace.PathDir(p.Path); ok {
			dirs = append(dirs, dir)
		}
	}
	return union(dirs, nil)
}

// restoring is PreCommit, which is asked again when content that a merge lost is back.
func (c hookCmd) restoring(
	ctx context.Context, a *app, hook served,
) (*stage.Verdict, error) {
	verdict, err := hook.PreCommit(ctx)
	if err != nil || c.Name == "pre-commit" && !merge.Waits(hook.Repo) {
		return verdict, err
	}
	restored, err := a.restoreLost(ctx, hook, verdict.Blocking)
	if err != nil || len(restored) == 0 {
		return verdict, err
	}
	// The stream that refers to it may be one that the merge does not change.
	_, err = hook.Repo.Stage(ctx, gitint.Change{Add: restored, LockTimeout: gitint.NoWait})
	if err != nil {
		return verdict, err
	}
	again, err := hook.PreCommit(ctx)
	if err == nil {
		again.Added = union(append(again.Added, verdict.Added...), restored)
	}
	return again, err
}

// restoreLost brings content back that findings miss, wherever this repository has it, and
// returns the paths of what is back in the work tree.
func (a *app) restoreLost(
	ctx context.Context, hook served, findings []check.Finding,
) ([]string, error) {
	lost := make(map[string][]repair.Lost)
	for _, f := range findings {
		if f.State != check.Missing || f.Hash.IsZero() || !hook.restores(f.Path) {
			continue
		}
		l := repair.Lost{Hash: f.Hash, Size: f.Size}
		if id, err := events.ParseID(f.Conversation); err == nil {
			l.In = []events.ID{id}
		}
		if dir, ok := workspace.PathDir(f.Path); ok {
			lost[dir] = append(lost[dir], l)
		}
	}
	var names []string
	for dir, all := range lost {
		w, err := a.hookWorkspace(hook, dir)
		if err != nil {
			return names, err
		}
		from := repair.Sources{Workspace: w, Repo: hook.Repo}
		found, err := repair.Restore(ctx, from, w.Blobs(), all)
		if err != nil {
			return names, err
		}
		for _, f := range found.Finds {
			names = append(names, blobIn(dir, f.Hash))
		}
	}
	if len(names) > 0 {
		a.note("git jp: brought back %s that conversations refer to",
			render.Count(len(names), "lost blob"))
	}
	return names, nil
}

// A passage is what a command of git went through: from one revision to another, or from
// HEAD to the index where the second is "".
type passage struct{ from, to string }

// passage reads what git tells a hook that runs afterwards; false when nothing can have
// come of it.
func (c hookCmd) passage(a *app) (passage, bool, error) {
	switch c.Name {
	case "post-checkout":
		at, err := hooks.ParsePostCheckout(c.Args)
		moved := at.Branch && at.Previous != at.Next && !at.Previous.IsZero()
		return passage{at.Previous.String(), at.Next.String()}, moved, err
	case "post-rewrite":
		all, err := hooks.ReadPostRewrite(a.stdin)
		if err == nil && len(all) == 0 && slices.Equal(c.Args, []string{"rebase"}) {
			// A manager of hooks kept the list, which git never leaves empty.
			return passage{"ORIG_HEAD", "HEAD"}, true, nil
		}
		if err != nil || len(all) == 0 || slices.Equal(c.Args, []string{"amend"}) {
			return passage{}, false, err
		}
		return passage{all[len(all)-1].Old.String(), "HEAD"}, true, nil
	default:
		if slices.Equal(c.Args, []string{"1"}) {
			return passage{"HEAD", ""}, true, nil
		}
		return passage{"ORIG_HEAD", "HEAD"}, true, nil
	}
}

// isFirst reports whether a work tree was just filled: nothing was checked out before.
func (p passage) isFirst() bool { return strings.Trim(p.from, "0") == "" && p.to != "" }

// greet looks at the clone itself, when its files have just come to be.
func (c hookCmd) greet(ctx context.Context, a *app) error {
	repo, err := a.repo(ctx)
	if err != nil {
		return err
	}
	return a.warnDrift(ctx, repo)
}

// afterwards looks at the conversations that a merge, a checkout or a rebase has touched.
// It is too late to stop anything, so it mends what is certain and says the rest.
func (c hookCmd) afterwards(ctx context.Context, a *app) error {
	went, ok, err := c.passage(a)
	switch {
	case err == nil && ok:
		err = c.lookBack(ctx, a, went)
	case err == nil && c.Name == "post-checkout" && went.isFirst():
		err = c.greet(ctx, a)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		a.warn("%s: conversations were not checked: %v", c.Name, err)
	}
	return nil
}

func (c hookCmd) lookBack(ctx context.Context, a *app, went passage) error {
	hook, err := c.hook(ctx, a)
	if err != nil {
		return err
	}
	if c.Name != "post-merge" || went.to == "" {
		return c.lookAt(ctx, a, hook, went)
	}
	// What a merge left out is no change of it.
	came := gitint.Departure{
		Tips: []string{went.to}, Not: []string{went.from},
		Under: []string{audit.EveryConversation, audit.EveryBlob},
	}
	commits, err := hook.Repo.Departing(ctx, came)
	if err != nil || len(commits) == 0 {
		return err
	}
	if err := c.lookAt(ctx, a, hook, went); err != nil || !slices.ContainsFunc(commits, isMerge) {
		return err
	}
	return a.warnLost(ctx, hook, came)
}

func isMerge(c gitint.Commit) bool { return len(c.Parents) > 1 }

// lookAt looks at what changed.
func (c hookCmd) lookAt(ctx context.Context, a *app, hook served, went passage) error {
	var paths []gitint.StagedPath
	var err error
	if went.to == "" {
		paths, err = hook.Repo.StagedPaths(ctx, audit.EveryConversation, audit.EveryBlob)
	} else {
		paths, err = hook.Repo.ChangedPaths(ctx, went.from, went.to,
			audit.EveryConversation, audit.EveryBlob)
	}
	if err != nil || len(paths) == 0 {
		return err
	}
	var at landing
	if c.Name == "post-checkout" {
		err = a.warnDrift(ctx, hook.Repo)
	} else {
		at, err = c.landing(ctx, hook.Repo, went)
	}
	if err == nil {
		err = a.noteArchived(ctx, hook, at, paths)
	}
	if err != nil {
		return err
	}
	if c.Name == "post-merge" {
		if err := c.unblendMerged(ctx, a, merged{hook, went, at, paths}); err != nil {
			return err
		}
	}
	change, err := hook.Changed(ctx, paths)
	if err == nil && c.Name != "post-checkout" && isTwice(change.Findings) {
		if err = a.unite(ctx, hook, at, change.Findings); err == nil {
			change, err = hook.Changed(ctx, paths)
		}
	}
	if err != nil {
		return err
	}
	return c.bringBack(ctx, a, hook, change.Findings)
}

// uniteAfter unites what a merge left in several directories, where no hook did.
func (c hookCmd) uniteAfter(ctx context.Context, a *app, went passage) error {
	hook, err := c.hook(ctx, a)
	if err != nil {
		return err
	}
	paths, err := hook.Repo.ChangedPaths(ctx, went.from, went.to, audit.EveryConversation)
	if err != nil || len(paths) == 0 {
		return err
	}
	change, err := hook.Changed(ctx, paths)
	if err != nil || !isTwice(change.Findings) {
		return err
	}
	at, err := c.landing(ctx, hook.Repo, went)
	if err != nil {
		return err
	}
	return a.unite(ctx, hook, at, change.Findings)
}

func isTwice(findings []check.Finding) bool {
	return slices.ContainsFunc(findings, func(f check.Finding) bool {
		return f.State == check.DuplicateID
	})
}

// A merged is what a command of git made of conversations.
type merged struct {
	hook  served
	went  passage
	at    landing
	paths []gitint.StagedPath
}

// unblendMerged looks at a merge that was just made: the commit, what --squash left in the
// index, or the merges of others that a pull brought.
func (c hookCmd) unblendMerged(ctx context.Context, a *app, m merged) error {
	hook, went, paths := m.hook, m.went, m.paths
	if went.to == "" {
		was, err := c.unblendUnderway(ctx, a, hook, paths)
		a.warnFindings(was.damaged)
		return err
	}
	commits, err := hook.Repo.Commits(ctx, "^"+went.from, went.to)
	if err != nil || len(commits) == 0 {
		return err
	}
	last := commits[len(commits)-1]
	was, err := hook.Repo.Resolve(ctx, went.from)
	if err == nil && len(last.Parents) > 1 && last.Parents[0] == was {
		commits = commits[:len(commits)-1]
		var done unblended
		done, err = c.unblend(ctx, a, hook, last.Parents, paths)
		a.warnFindings(done.damaged)
		if err == nil && done.mended {
			err = a.settleStaged(ctx, hook.Repo, m.at)
		}
	}
	for _, commit := range commits {
		if err != nil {
			break
		}
		var found []check.Finding
		found, err = audit.BlendedBy(ctx, hook.Repo, commit, workspacesOf(paths))
		a.warnFindings(found)
	}
	return err
}

// bringBack mends what of the findings is certain, and prints the others. After a checkout
// nothing is put into the work tree: git would refuse the next one because of it.
func (c hookCmd) bringBack(
	ctx context.Context, a *app, hook served, findings []check.Finding,
) (err error) {
	var restored []string
	if c.Name != "post-checkout" {
		restored, err = a.restoreLost(ctx, hook, findings)
	}
	if err == nil && len(restored) > 0 {
		_, err = hook.Repo.Stage(ctx, gitint.Change{Add: restored, LockTimeout: gitint.NoWait})
		if err == nil {
			a.note("git jp: staged; commit it")
		}
	}
	left := slices.DeleteFunc(slices.Clone(findings), func(f check.Finding) bool {
		dir, _ := workspace.PathDir(f.Path)
		return f.State != check.Missing && f.State != check.DuplicateID ||
			f.State == check.Missing && slices.Contains(restored, blobIn(dir, f.Hash))
	})
	a.advise(ctx, hook.Repo, left)
	a.warnFindings(left)
	return err
}
