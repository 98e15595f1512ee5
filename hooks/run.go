package hooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/audit"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/stage"
)

// A run is one run of a hook.
type run struct {
	Env
	name string
	args []string
}

// Run does the work of the hook that git calls by this name, with the arguments that git gives it.
// A hook of a later version that this one does not know does nothing: the repository's owner may
// have a newer program. The error is [ErrCommit], [ErrSecret], [ErrMended], [ErrPush],
// [ErrReceived] or a [*ConflictError] if git has to stop, after the reasons were printed.
func Run(ctx context.Context, env Env, name string, args []string) error {
	r := &run{Env: env, name: name, args: args}
	r.args = r.given()
	switch r.name {
	case "pre-commit":
		return r.preCommit(ctx)
	case "post-commit":
		return r.postCommit(ctx)
	case "pre-merge-commit":
		return r.preMergeCommit(ctx)
	case "post-merge", "post-checkout", "post-rewrite":
		return r.afterwards(ctx)
	case "prepare-commit-msg":
		return r.prepareMessage(ctx)
	case "pre-push":
		return r.prePush(ctx)
	case "pre-receive":
		return r.preReceive(ctx)
	default:
		r.Warn("git jp %s is too old for the %s hook of this repository, which does nothing; "+
			"install a newer one", r.Version, r.name)
		return nil
	}
}

// putsBack reports whether a hook moves back what a killed collection had moved. After a checkout
// nothing is written into the working tree, because git would refuse the next one, and a push reads
// commits only: then the next command does it.
func putsBack(hook string) bool {
	return hook != "post-checkout" && hook != "pre-push" && hook != "pre-receive"
}

// preCommit blocks only damage that the commit itself would do. A failure of ours is reported and
// does not block: a check in CI is the guarantee, a hook a convenience.
func (r *run) preCommit(ctx context.Context) error {
	hook, err := r.hook(ctx)
	if err != nil {
		r.Warn("pre-commit: %v", err)
		return nil
	}
	if err := r.Sweep(hook.Repo); err != nil {
		r.Warn("pre-commit: sessions of agents were not looked for: %v", err)
	}
	if err := r.refuseUndecided(ctx, hook.Repo); err != nil {
		return err
	}
	var was remerged
	if merge.Waits(hook.Repo) {
		paths, err := hook.Repo.StagedPaths(ctx, audit.EveryConversation, audit.EveryBlob)
		if err == nil && len(paths) > 0 {
			was, err = r.remergeUnderway(ctx, hook, paths)
		}
		if err == nil {
			err = r.warnLosing(ctx, hook)
		}
		if err != nil {
			r.Warn("pre-commit: the merge of conversations was not checked: %v", err)
		}
	}
	if err := restoreKept(ctx, hook, r.Note); err != nil {
		r.Warn("pre-commit: conversations that one side removed: %v", err)
	}
	verdict, err := r.restoring(ctx, hook)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return r.unchecked(err)
	}
	if err := r.refuseHalf(ctx, hook, verdict); err != nil {
		return err
	}
	if err := r.refuseUnmerged(ctx, hook, verdict); err != nil {
		return err
	}
	verdict.Blocking = append(verdict.Blocking, was.damaged...)
	return r.tell(ctx, hook, verdict)
}

// unchecked reports why a commit was not checked. If an object that the commit needs is corrupt,
// git would commit anyway, and no one could fetch it: that stops the commit.
func (r *run) unchecked(err error) error {
	if _, corrupt := errors.AsType[*gitint.CorruptObjectError](err); corrupt {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	r.Warn("%s: conversations were not checked: %v", r.name, err)
	return nil
}

// tell prints what pre-commit found and did, and returns an error if the commit is stopped.
func (r *run) tell(ctx context.Context, hook served, verdict *stage.Verdict,
) error {
	if verdict.AddError != nil {
		r.Warn("%s: %v", r.name, verdict.AddError)
	}
	if len(verdict.Added) > 0 {
		r.Note("git jp: added %s that the staged conversations need",
			render.Count(len(verdict.Added), "blob"))
	}
	if len(verdict.Joined) > 0 {
		r.Note("git jp: added %s beside the conversations, such as redaction entries",
			render.Count(len(verdict.Joined), "file"))
	}
	if len(verdict.Own) > 0 {
		r.Note("git jp: added %s, which every clone needs", strings.Join(verdict.Own, ", "))
	}
	others, blocking := hook.checked(verdict.Others), hook.checked(verdict.Blocking)
	r.WarnFindings(others)
	r.warnStanding(ctx, hook, verdict.Standing)
	r.Advise(ctx, hook.Repo, blocking)
	if err := r.Print(blocking); err != nil {
		return err
	}
	// Git itself commits nothing that is unmerged.
	switch {
	case slices.ContainsFunc(others, isConflict):
		return &ConflictError{"the index is unmerged"}
	case slices.ContainsFunc(blocking, hook.stops):
		return commitError(blocking)
	default:
		return nil
	}
}

// refuseUndecided stops a commit of conflicts that were added without a decision.
func (r *run) refuseUndecided(ctx context.Context, repo *gitint.Repo) error {
	conflicts, err := audit.Undecided(ctx, repo)
	if err != nil {
		r.Warn("pre-commit: conflicts were not looked for: %v", err)
		return nil
	}
	if len(conflicts) == 0 {
		return nil
	}
	if err := r.Print(conflicts); err != nil {
		return err
	}
	return &ConflictError{"conflicts were added and not decided"}
}

// refuseUnmerged stops a commit of settings that have both sides of a merge.
func (r *run) refuseUnmerged(ctx context.Context, hook served, verdict *stage.Verdict) error {
	if len(verdict.Beside) == 0 {
		return nil
	}
	index, err := hook.Repo.Index(ctx)
	if err != nil {
		return r.unchecked(err)
	}
	findings, err := audit.Unmerged(index, verdict.Beside)
	if err != nil {
		return r.unchecked(err)
	}
	findings = hook.checked(findings)
	if !slices.ContainsFunc(findings, hook.stops) {
		r.WarnFindings(findings)
		return nil
	}
	if err := r.Print(findings); err != nil {
		return err
	}
	return &ConflictError{"the settings have both sides of a merge"}
}

func isConflict(f check.Finding) bool { return f.State == check.Conflicted }

// ErrSecret reports that a commit was stopped because it would bring a secret, after the reasons
// were printed.
var ErrSecret = errors.New("the commit was stopped: it would bring a secret")

// commitError returns the reason why a commit is stopped; that it would be incomplete is the worse
// reason.
func commitError(blocking []check.Finding) error {
	others := func(f check.Finding) bool {
		return f.State != check.Secret && f.State != check.Unredacted
	}
	if slices.ContainsFunc(blocking, others) {
		return ErrCommit
	}
	return ErrSecret
}

// ErrCommit reports that a commit was stopped, after the reasons were printed.
var ErrCommit = errors.New("the commit was stopped: it would be incomplete")

// A ConflictError reports that git was stopped because a person has to decide, after the conflict
// was printed.
type ConflictError struct{ Text string }

// Error implements error.
func (e *ConflictError) Error() string { return e.Text }

func (r *run) postCommit(ctx context.Context) error {
	hook, err := r.hook(ctx)
	checked := false
	if err == nil {
		checked = hook.TakeChecked()
		err = hook.PostCommit(ctx)
	}
	if err == nil {
		err = noteDecided(ctx, hook.Repo)
	}
	var found []check.Finding
	if err == nil && !checked {
		found, err = hook.Unchecked(ctx)
		if r.warnStanding(ctx, hook, found) {
			r.Hint("git commit --amend --no-edit")
		}
	}
	if err == nil && !checked {
		err = r.warnKept(ctx, hook)
	}
	if err == nil && !checked {
		err = r.warnPicked(ctx, hook)
	}
	if err != nil {
		r.Warn("post-commit: %v", err)
	}
	return nil
}

// warnStanding prints what HEAD lacks, with the command that restores it, and reports whether it
// lacks anything. In a workspace that does not stop a commit for that, it was reported when the
// commit was made.
func (r *run) warnStanding(ctx context.Context, hook served, found []check.Finding) bool {
	found = slices.DeleteFunc(slices.Clone(found), func(f check.Finding) bool {
		return !hook.stops(f)
	})
	if len(found) == 0 {
		return false
	}
	r.Advise(ctx, hook.Repo, found)
	if slices.ContainsFunc(found, func(f check.Finding) bool { return f.Hash.IsZero() }) {
		r.Warn("HEAD has conversations with errors:")
	} else {
		r.Warn("HEAD lacks content of conversations:")
	}
	r.warnNext(found)
	return true
}
