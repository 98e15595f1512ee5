package hooks

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/audit"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/stage"
	"github.com/git-jp/git-jp/internal/workspace"
)

// ErrMended reports that a merge was fixed and waits for its commit. Git has made the tree of the
// merge before it asks the hook, so the hook's changes would not be part of it.
var ErrMended = errors.New("the merge of conversations was fixed and is not committed yet")

// preMergeCommit does for a merge what pre-commit does for a commit, and replaces what git merged
// as text by the drivers' result.
func (r *run) preMergeCommit(ctx context.Context) error {
	hook, err := r.hook(ctx)
	var paths []gitint.StagedPath
	if err == nil {
		paths, err = hook.Repo.StagedPaths(ctx,
			audit.EveryConversation, audit.EveryBlob, audit.EveryRedaction)
	}
	if err == nil && len(paths) == 0 {
		err = hook.Settle(ctx)
	}
	var verdict *stage.Verdict
	var was remerged
	if err == nil && len(paths) > 0 {
		if was, err = r.remergeUnderway(ctx, hook, paths); err == nil {
			verdict, err = r.restoring(ctx, hook)
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return r.unchecked(err)
	case verdict == nil:
		return nil
	}
	verdict.Blocking = append(verdict.Blocking, was.damaged...)
	if err := r.tell(ctx, hook, verdict); err != nil {
		return err
	}
	if was.fixed || len(verdict.Added) > 0 {
		return ErrMended
	}
	return nil
}

// A remerged is the outcome of merging files again that git merged as text.
type remerged struct {
	fixed   bool            // something was staged
	damaged []check.Finding // what remains and must not be committed
}

// remergeUnderway is remerge for the merge that git is about to commit.
func (r *run) remergeUnderway(ctx context.Context, hook served, paths []gitint.StagedPath,
) (remerged, error) {
	parents, err := merge.Underway(ctx, hook.Repo)
	if err != nil {
		return remerged{}, err
	}
	return r.remerge(ctx, hook, parents, paths)
}

// remerge merges again, with our drivers, the files of the index that git merged as text, and warns
// about those that it cannot fix.
func (r *run) remerge(
	ctx context.Context, hook served, parents []gitint.OID, paths []gitint.StagedPath,
) (remerged, error) {
	if len(parents) < 2 {
		return remerged{}, nil
	}
	index, err := hook.Repo.Index(ctx)
	if err != nil {
		return remerged{}, err
	}
	m := merge.Merge{Repo: hook.Repo, Parents: parents, Dirs: workspacesOf(pathsOf(paths))}
	files, err := m.MergedFiles(ctx, index)
	if err != nil {
		return remerged{}, err
	}
	damaged, err := m.Blobs(ctx, index, pathsOf(paths))
	if err != nil {
		return remerged{}, err
	}
	files = append(files, damaged...)
	fixed, err := merge.Fix(ctx, hook.Repo, index, hook.replaceable(files))
	for _, b := range fixed {
		why := "git had merged it as text, without its driver"
		if b.Outcome == merge.Misplaced {
			why = "git had put what another conversation has there"
		}
		r.Note("git jp: %s: %s; merged again", b.Path, why)
	}
	found := audit.TextMergeFindings(check.IndexName, notFixed(files, fixed))
	u := remerged{fixed: len(fixed) > 0, damaged: hook.refused(found)}
	r.WarnFindings(slices.DeleteFunc(found, func(f check.Finding) bool {
		return slices.Contains(u.damaged, f)
	}))
	if err == nil {
		err = r.restoreBlobs(ctx, hook, notFixed(damaged, fixed), &u)
	}
	return u, err
}

// restoreBlobs replaces damaged blobs by an intact copy from anywhere in this repository, and
// reports those that have no copy.
func (r *run) restoreBlobs(
	ctx context.Context, hook served, damaged []merge.MergedFile, u *remerged,
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
	restored, err := r.restore(ctx, hook, lost)
	if err != nil {
		return err
	}
	if len(restored) > 0 {
		change := gitint.Change{Add: restored, LockTimeout: gitint.NoWait}
		if _, err := hook.Repo.Stage(ctx, change); err != nil {
			return err
		}
		u.fixed = true
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
	return lists.Map(all, func(p gitint.StagedPath) string { return p.Path })
}

// notFixed returns the files that are not among the fixed ones.
func notFixed(files, fixed []merge.MergedFile) []merge.MergedFile {
	return slices.DeleteFunc(slices.Clone(files), func(b merge.MergedFile) bool {
		return slices.ContainsFunc(fixed, func(m merge.MergedFile) bool { return m.Path == b.Path })
	})
}

// union returns the elements of both, sorted, each once.
func union(a, b []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

// workspacesOf returns the directories .jp that have the paths, sorted.
func workspacesOf(names []string) []string {
	var dirs []string
	for _, name := range names {
		if dir, ok := workspace.PathDir(name); ok {
			dirs = append(dirs, dir)
		}
	}
	return union(dirs, nil)
}

// restoring is PreCommit, repeated when content that a merge lost is back.
func (r *run) restoring(ctx context.Context, hook served,
) (*stage.Verdict, error) {
	verdict, err := hook.PreCommit(ctx)
	if err != nil || r.name == "pre-commit" && !completes(hook) {
		return verdict, err
	}
	lost, err := lostIn(ctx, r, hook, verdict.Blocking)
	if err != nil {
		return verdict, err
	}
	change := gitint.Change{LockTimeout: gitint.NoWait}
	if change.Add, err = restoreLost(ctx, r, hook, lost); err != nil {
		return verdict, err
	}
	var absent []string
	for _, f := range lost {
		if name := blobOf(f); !slices.Contains(change.Add, name) {
			absent = append(absent, name)
		}
	}
	change.AddObjects, err = hook.Promised(ctx, absent)
	if err != nil || len(change.Add)+len(change.AddObjects) == 0 {
		return verdict, err
	}
	restored := slices.Clone(change.Add)
	for _, e := range change.AddObjects {
		restored, change.LeftOut = append(restored, e.Path), append(change.LeftOut, e.Path)
	}
	// The stream that refers to it may be one that the merge does not change.
	if _, err = hook.Repo.Stage(ctx, change); err != nil {
		return verdict, err
	}
	again, err := hook.PreCommit(ctx)
	if err == nil {
		again.Added = union(append(again.Added, verdict.Added...), restored)
	}
	return again, err
}

// A headMove says from where to where a command of git moved HEAD; to is "" for a change of the
// index alone, as merge --squash makes.
type headMove struct{ from, to string }

// headMove parses the arguments and the input of a hook that runs afterwards. It is false when no
// conversation can have changed.
func (r *run) headMove() (headMove, bool, error) {
	switch r.name {
	case "post-checkout":
		head, branch, err := parsePostCheckout(r.args)
		// Without a commit, as after 'git switch --orphan', there is nothing to look at.
		moved := branch && head.from != head.to && !head.from.IsZero() && !head.to.IsZero()
		return headMove{head.from.String(), head.to.String()}, moved, err
	case "post-rewrite":
		all, err := readPostRewrite(r.Stdin)
		if err == nil && len(all) == 0 && slices.Equal(r.args, []string{"rebase"}) {
			// A manager of hooks did not pass on the list, which git never leaves empty.
			return headMove{"ORIG_HEAD", "HEAD"}, true, nil
		}
		if err != nil || len(all) == 0 || slices.Equal(r.args, []string{"amend"}) {
			return headMove{}, false, err
		}
		return headMove{all[len(all)-1].from.String(), "HEAD"}, true, nil
	default:
		if slices.Equal(r.args, []string{"1"}) {
			return headMove{"HEAD", ""}, true, nil
		}
		return headMove{"ORIG_HEAD", "HEAD"}, true, nil
	}
}

// isFirst reports whether a working tree was just filled: nothing was checked out before.
func (p headMove) isFirst() bool { return strings.Trim(p.from, "0") == "" && p.to != "" }

// greet checks the clone itself, when its files have just been checked out.
func (r *run) greet(ctx context.Context) error {
	repo, err := r.Open(ctx)
	if err != nil {
		return err
	}
	return r.WarnDrift(ctx, repo)
}

// afterwards looks at the conversations that a merge, a checkout or a rebase has touched. It is too
// late to stop git, so afterwards fixes what is certain and reports the rest.
func (r *run) afterwards(ctx context.Context) error {
	went, ok, err := r.headMove()
	switch {
	case err == nil && ok:
		err = r.lookBack(ctx, went)
	case err == nil && r.name == "post-checkout" && went.isFirst():
		err = r.greet(ctx)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		r.Warn("%s: conversations were not checked: %v", r.name, err)
	}
	return nil
}

func (r *run) lookBack(ctx context.Context, went headMove) error {
	hook, err := r.hook(ctx)
	if err == nil {
		err = stage.KeepSpares(ctx, hook.Repo)
	}
	if err != nil {
		return err
	}
	if r.name != "post-merge" || went.to == "" {
		return r.lookAt(ctx, hook, went)
	}
	// A file that a merge left out is no changed path, so the commits are listed.
	came := gitint.PushRange{
		Tips: []string{went.to}, Not: []string{went.from},
		Under: []string{audit.EveryConversation, audit.EveryBlob, audit.EveryRedaction},
	}
	commits, err := hook.Repo.PushedCommits(ctx, came)
	if err != nil || len(commits) == 0 {
		return err
	}
	if err := r.lookAt(ctx, hook, went); err != nil || !slices.ContainsFunc(commits, isMerge) {
		return err
	}
	return r.warnLost(ctx, hook, came)
}

func isMerge(c gitint.Commit) bool { return len(c.Parents) > 1 }

// lookAt looks at what changed.
func (r *run) lookAt(ctx context.Context, hook served, went headMove) error {
	var paths []gitint.StagedPath
	var err error
	if went.to == "" {
		paths, err = hook.Repo.StagedPaths(ctx, audit.EveryConversation, audit.EveryBlob)
	} else {
		paths, err = hook.Repo.ChangedPaths(ctx, went.from, went.to,
			audit.EveryConversation, audit.EveryBlob, audit.EveryRedaction)
	}
	if err != nil || len(paths) == 0 {
		return err
	}
	var at landing
	if r.name == "post-checkout" {
		err = r.WarnDrift(ctx, hook.Repo)
	} else {
		at, err = r.landing(ctx, hook.Repo, went)
	}
	if err == nil {
		err = r.noteArchived(ctx, hook, at, paths)
	}
	if err != nil {
		return err
	}
	if r.name == "post-merge" {
		if err := r.remergeCommits(ctx, merged{hook, went, at, paths}); err != nil {
			return err
		}
	}
	change, err := hook.Changed(ctx, paths)
	if err == nil && r.name != "post-checkout" && isTwice(change.Findings) {
		if err = r.unite(ctx, hook, at, change.Findings); err == nil {
			change, err = hook.Changed(ctx, paths)
		}
	}
	if err == nil {
		_, err = r.restore(ctx, hook, change.Bereft)
	}
	if err != nil {
		return err
	}
	if err := r.bringBack(ctx, hook, change.Findings); err != nil || r.name == "post-checkout" {
		return err
	}
	return r.warnReturned(ctx, hook, went, paths)
}

// UniteAfter unites conversations that a merge, from one revision to another, left in several
// directories, where no hook did.
func UniteAfter(ctx context.Context, env Env, from, to string) error {
	r, went := &run{Env: env, name: "post-merge"}, headMove{from, to}
	hook, err := r.hook(ctx)
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
	at, err := r.landing(ctx, hook.Repo, went)
	if err != nil {
		return err
	}
	return r.unite(ctx, hook, at, change.Findings)
}

func isTwice(findings []check.Finding) bool {
	return slices.ContainsFunc(findings, func(f check.Finding) bool {
		return f.State == check.DuplicateID
	})
}

// A merged is the outcome of a git command for conversations.
type merged struct {
	hook  served
	went  headMove
	at    landing
	paths []gitint.StagedPath
}

// remergeCommits checks a merge that was just made: the commit, what --squash left in the index, or
// other people's merges that a pull brought.
func (r *run) remergeCommits(ctx context.Context, m merged) error {
	hook, went, paths := m.hook, m.went, m.paths
	if went.to == "" {
		was, err := r.remergeUnderway(ctx, hook, paths)
		r.WarnFindings(was.damaged)
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
		var done remerged
		done, err = r.remerge(ctx, hook, last.Parents, paths)
		r.WarnFindings(done.damaged)
		if err == nil && done.fixed {
			err = r.settleStaged(ctx, hook.Repo, m.at)
		}
	}
	for _, commit := range commits {
		if err != nil {
			break
		}
		var found []check.Finding
		found, err = audit.TextMerges(ctx, hook.Repo, commit, workspacesOf(pathsOf(paths)))
		r.WarnFindings(found)
	}
	return err
}

// bringBack fixes the findings whose fix is certain, and warns about the others. After a checkout
// nothing is written into the working tree: git would refuse the next one because of it.
func (r *run) bringBack(ctx context.Context, hook served, findings []check.Finding,
) (err error) {
	var restored []string
	if r.name != "post-checkout" {
		restored, err = r.restore(ctx, hook, findings)
	}
	if err == nil && len(restored) > 0 {
		_, err = hook.Repo.Stage(ctx, gitint.Change{Add: restored, LockTimeout: gitint.NoWait})
		if err == nil {
			r.Note("git jp: staged; commit it")
		}
	}
	left := slices.DeleteFunc(slices.Clone(findings), func(f check.Finding) bool {
		return f.State != check.Missing && f.State != check.DuplicateID ||
			f.State == check.Missing && slices.Contains(restored, blobOf(f))
	})
	r.Advise(ctx, hook.Repo, left)
	r.WarnFindings(left)
	return err
}
