package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/audit"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/stage"
)

type hookCmd struct {
	Name string   `arg:"" help:"The hook that git runs."`
	Args []string `arg:"" optional:"" passthrough:"" help:"What git gives it."`
}

// hookMemory is from where on a hook rather collects its garbage than takes more memory. What it
// holds is bounded by the sizes of what it reads; git waits for it on machines of all sizes.
const hookMemory = 176 << 20

// hookPatience is how long git waits for a hook before that says what git waits for.
const hookPatience = 10 * time.Second

// Run does the work of a hook. A hook of a later version that this one does not know
// does nothing: the repository's owner may have a newer program.
func (c hookCmd) Run(ctx context.Context, a *app) error {
	limitMemory(hookMemory)
	defer c.announce(a)()
	c.Args = c.given(a)
	switch c.Name {
	case "pre-commit":
		return c.preCommit(ctx, a)
	case "post-commit":
		return c.postCommit(ctx, a)
	case "pre-merge-commit":
		return c.preMergeCommit(ctx, a)
	case "post-merge", "post-checkout", "post-rewrite":
		return c.afterwards(ctx, a)
	case "prepare-commit-msg":
		return c.prepareMessage(ctx, a)
	case "pre-push":
		return c.prePush(ctx, a)
	case "pre-receive":
		return c.preReceive(ctx, a)
	default:
		a.warn("git jp %s is too old for the %s hook of this repository, which does nothing; "+
			"install a newer one", a.version, c.Name)
		return nil
	}
}

// announce says after a while who it is that git waits for, and how to go on without: nobody sees
// which of the hooks of a repository does not end.
func (c hookCmd) announce(a *app) (stop func()) {
	text := fmt.Sprintf("warning: git jp: the %s hook is still at work; Ctrl-C ends it", c.Name)
	switch c.Name {
	case "pre-commit", "pre-merge-commit", "pre-push":
		text += ", and --no-verify does without"
	}
	timer := time.AfterFunc(a.patience, func() { fmt.Fprintln(a.stderr, text) })
	return func() { timer.Stop() }
}

// putsBack reports whether a hook puts back what a collection had moved that was killed.
// After a checkout nothing is put into the work tree, because git would refuse the next one,
// and a push reads commits only: then the next command does it.
func (c hookCmd) putsBack() bool {
	return c.Name != "post-checkout" && c.Name != "pre-push" && c.Name != "pre-receive"
}

// preCommit blocks only what the commit itself would break. A failure of ours is
// told and does not block: a check in CI is the guarantee, a hook a convenience.
func (c hookCmd) preCommit(ctx context.Context, a *app) error {
	hook, err := c.hook(ctx, a)
	if err != nil {
		a.warn("pre-commit: %v", err)
		return nil
	}
	if err := c.refuseUndecided(ctx, a, hook.Repo); err != nil {
		return err
	}
	var was unblended
	if merge.Waits(hook.Repo) {
		paths, err := hook.Repo.StagedPaths(ctx, audit.EveryConversation, audit.EveryBlob)
		if err == nil && len(paths) > 0 {
			was, err = c.unblendUnderway(ctx, a, hook, paths)
		}
		if err == nil {
			err = a.warnLosing(ctx, hook)
		}
		if err != nil {
			a.warn("pre-commit: the merge of conversations was not checked: %v", err)
		}
	}
	verdict, err := c.restoring(ctx, a, hook)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		a.warn("pre-commit: conversations were not checked: %v", err)
		return nil
	}
	if err := c.refuseHalf(ctx, a, hook, verdict); err != nil {
		return err
	}
	verdict.Blocking = append(verdict.Blocking, was.damaged...)
	return c.tell(ctx, a, hook, verdict)
}

// tell prints what pre-commit found and did, and says whether the commit is stopped.
func (c hookCmd) tell(
	ctx context.Context, a *app, hook served, verdict *stage.Verdict,
) error {
	if verdict.AddError != nil {
		a.warn("%s: %v", c.Name, verdict.AddError)
	}
	if len(verdict.Added) > 0 {
		a.note("git jp: added %s that the staged conversations need",
			render.Count(len(verdict.Added), "blob"))
	}
	for _, name := range verdict.Named {
		a.note("git jp: added %s, without which other clones delete nothing", name)
	}
	others, blocking := hook.checked(verdict.Others), hook.checked(verdict.Blocking)
	a.warnFindings(others)
	a.warnStanding(ctx, hook, verdict.Standing)
	a.advise(ctx, hook.Repo, blocking)
	if err := a.printFindings(blocking); err != nil {
		return err
	}
	// Git itself commits nothing that is unmerged.
	switch {
	case slices.ContainsFunc(others, isConflict):
		return &refusedError{conflict: true, text: "the index is unmerged"}
	case slices.ContainsFunc(blocking, hook.stops):
		return errBlocked
	default:
		return nil
	}
}

// refuseUndecided stops a commit of conflicts that were only added.
func (hookCmd) refuseUndecided(ctx context.Context, a *app, repo *gitint.Repo) error {
	conflicts, err := audit.Undecided(ctx, repo)
	if err != nil {
		a.warn("pre-commit: conflicts were not looked for: %v", err)
		return nil
	}
	if len(conflicts) == 0 {
		return nil
	}
	if err := a.printFindings(conflicts); err != nil {
		return err
	}
	return &refusedError{conflict: true, text: "conflicts were added and not decided"}
}

func isConflict(f check.Finding) bool { return f.State == check.Conflicted }

// errBlocked says that a commit was stopped, after the reasons were printed.
var errBlocked = errors.New("the commit was stopped: it would not be whole")

func (c hookCmd) postCommit(ctx context.Context, a *app) error {
	hook, err := c.hook(ctx, a)
	if err == nil {
		err = hook.PostCommit(ctx)
	}
	if err == nil {
		err = a.noteDecided(ctx, hook.Repo)
	}
	var found []check.Finding
	if err == nil {
		found, err = hook.Unchecked(ctx)
		a.warnStanding(ctx, hook, found)
	}
	if err != nil {
		a.warn("post-commit: %v", err)
	}
	return nil
}

// warnStanding prints what HEAD lacks, and what brings it back. A workspace in which a commit is
// not stopped for that was told when it was made.
func (a *app) warnStanding(ctx context.Context, hook served, found []check.Finding) {
	found = slices.DeleteFunc(slices.Clone(found), func(f check.Finding) bool {
		return !hook.stops(f)
	})
	if len(found) == 0 {
		return
	}
	a.advise(ctx, hook.Repo, found)
	a.warn("HEAD lacks content of conversations:")
	a.warnFindings(found)
	a.hintNext(found)
}

// maxWarned is how many findings are warned about without -v.
const maxWarned = 10

// warnFindings prints what does not block, a line each. Of many the first are printed.
func (a *app) warnFindings(findings []check.Finding) {
	findings = slices.DeleteFunc(slices.Clone(findings), func(f check.Finding) bool {
		return f.Severity == check.Note
	})
	for i, f := range findings {
		if i == maxWarned && len(findings) > maxWarned+1 && !a.Verbose {
			a.warn("and %d more; 'git jp check -v' shows them", len(findings)-i)
			return
		}
		subject := cmp.Or(f.Conversation, f.Path)
		if f.Title != "" {
			subject += " " + strconv.Quote(f.Title)
		}
		a.warn("%s: %s", subject, a.printer().Sentence(f))
	}
}
