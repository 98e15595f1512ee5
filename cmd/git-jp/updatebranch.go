package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/hooks"
	"github.com/git-jp/git-jp/hooks/install"
	"github.com/git-jp/git-jp/internal/audit"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/resolve"
)

type updateBranchCmd struct {
	Base string `arg:"" optional:"" help:"What is merged; by default jp.base of git's configuration, else the remote's default branch."`
	Push bool   `help:"Push the branch afterwards."`
}

// Help says what it is for.
func (updateBranchCmd) Help() string {
	return `Merges the base into the current branch on this machine, with the drivers: the merge
button of a forge runs none. Nothing is fetched, and nothing is pushed without --push. The work
tree must have no changes of tracked files. Where a person has to decide, the merge is left as
git leaves it.

    git fetch && git jp update-branch --push

Exit code: 0 the branch has the base, 1 it could not be merged, 2 a person has to decide.`
}

// updateRecord is the JSON of update-branch.
type updateRecord struct {
	Branch string `json:"branch"`
	Base   string `json:"base"`
	Before string `json:"before"`
	After  string `json:"after"`
	Pushed bool   `json:"pushed"`
}

// A branch is the one that is checked out.
type branch struct {
	ref, name      string
	remote, remref string // where it is pushed to
}

// Run updates.
func (c updateBranchCmd) Run(ctx context.Context, a *app) error {
	repo, err := a.repo(ctx)
	if err != nil {
		return err
	}
	b, err := currentBranch(ctx, repo)
	if err != nil {
		return err
	}
	if c.Base == "" {
		if c.Base, err = defaultBase(ctx, repo, b.remote); err != nil {
			return err
		}
	}
	if err := readyToMerge(ctx, a, repo); err != nil {
		return err
	}
	r := updateRecord{Branch: b.name, Base: c.Base}
	if r.Before, r.After, err = mergeBase(ctx, a, repo, c.Base); err != nil {
		return err
	}
	if c.Push {
		said, err := repo.Push(ctx, b.remote, b.ref, b.remref)
		relay(a, said)
		if err != nil {
			return err
		}
		r.Pushed = true
	}
	return tellUpdated(a, r)
}

func tellUpdated(a *app, r updateRecord) error {
	if a.JSON {
		return a.printJSON(r)
	}
	if r.Before == r.After {
		a.note("%s has all of %s", r.Branch, r.Base)
	} else {
		a.note("merged %s into %s", r.Base, r.Branch)
	}
	if r.Pushed {
		a.note("pushed %s", r.Branch)
	}
	return nil
}

// relay prints what git and the hooks said.
func relay(a *app, said string) {
	for line := range strings.Lines(said) {
		fmt.Fprintln(a.stderr, render.Message(strings.TrimRight(line, "\n")))
	}
}

func currentBranch(ctx context.Context, repo *gitint.Repo) (branch, error) {
	head, err := repo.Head(ctx)
	if err != nil {
		return branch{}, err
	}
	name, ok := strings.CutPrefix(head.Target, "refs/heads/")
	if !ok || head.OID.IsZero() {
		return branch{}, &refusedError{text: "update the branch: HEAD is not on one"}
	}
	b := branch{ref: head.Target, name: name, remref: head.Target}
	if remote, ok, err := repo.Config(ctx, "branch."+name+".remote"); err != nil || ok {
		b.remote = remote
		if err != nil {
			return b, err
		}
		merge, ok, err := repo.Config(ctx, "branch."+name+".merge")
		if err != nil {
			return b, err
		}
		if ok {
			b.remref = merge
		}
		return b, nil
	}
	b.remote, err = onlyRemote(ctx, repo)
	return b, err
}

// onlyRemote is origin, or the one remote that there is.
func onlyRemote(ctx context.Context, repo *gitint.Repo) (string, error) {
	const origin = "origin"
	all, err := repo.Remotes(ctx)
	if err != nil || slices.Contains(all, origin) || len(all) != 1 {
		return origin, err
	}
	return all[0], nil
}

// baseKey is the key of git's configuration that names the base.
const baseKey = "jp.base"

func defaultBase(ctx context.Context, repo *gitint.Repo, remote string) (string, error) {
	if base, ok, err := repo.Config(ctx, baseKey); err != nil || ok {
		return base, err
	}
	base := "refs/remotes/" + remote + "/HEAD"
	_, err := repo.Resolve(ctx, base)
	if errors.Is(err, gitint.ErrUnknownRevision) {
		return "", usagef("name the base, as in 'git jp update-branch main': "+
			"the default branch of %s is not known", remote)
	}
	return strings.TrimPrefix(base, "refs/remotes/"), err
}

// readyToMerge refuses what would make of the merge something that nobody asked for.
func readyToMerge(ctx context.Context, a *app, repo *gitint.Repo) error {
	if merge.Waits(repo) {
		return &refusedError{text: "update the branch: a merge waits for its commit"}
	}
	tidy, err := repo.IsTidy(ctx)
	if err != nil {
		return err
	}
	if !tidy {
		return &refusedError{text: "update the branch: tracked files have changes"}
	}
	drifts, err := install.Drifts(ctx, repo, nearDirs(a, repo))
	if err != nil {
		return err
	}
	for _, d := range drifts {
		if d.Mismatch != install.Unshared {
			return &driftError{d.Sentence()}
		}
	}
	return nil
}

// A driftError says that this clone would not merge conversations with the drivers.
type driftError struct{ text string }

func (e *driftError) Error() string { return "update the branch: " + e.text }

// Hints name what registers the drivers.
func (*driftError) Hints() []string { return []string{report.Register} }

// mergeBase merges and returns HEAD from before and after. A merge that the hook mended is
// completed: it waits for nobody.
func mergeBase(
	ctx context.Context, a *app, repo *gitint.Repo, base string,
) (before, after string, err error) {
	was, err := repo.Resolve(ctx, "HEAD")
	if err != nil {
		return "", "", err
	}
	if _, err := repo.Resolve(ctx, base); errors.Is(err, gitint.ErrUnknownRevision) {
		return "", "", audit.NewRevisionError(repo, "merge "+base+": unknown revision")
	}
	said, err := repo.Merge(ctx, base)
	relay(a, said)
	if err != nil {
		err = completeMerge(ctx, a, repo, err)
	}
	if err != nil {
		return "", "", err
	}
	if err := hooks.UniteAfter(ctx, hookEnv(a), was.String(), "HEAD"); err != nil {
		return "", "", err
	}
	is, err := repo.Resolve(ctx, "HEAD")
	return was.String(), is.String(), err
}

func completeMerge(ctx context.Context, a *app, repo *gitint.Repo, failure error) error {
	if !merge.Waits(repo) {
		return failure
	}
	o, err := resolveOptions(ctx, a)
	if err != nil {
		return err
	}
	r, err := resolve.New(ctx, o)
	if err != nil {
		return err
	}
	if err := r.Settle(ctx); err != nil {
		return err
	}
	index, err := repo.Index(ctx)
	if err != nil {
		return err
	}
	if names := index.Conflicts(); len(names) > 0 {
		return fmt.Errorf("merge: %w", &gitint.UnmergedError{Paths: names})
	}
	said, err := repo.CommitMerge(ctx)
	relay(a, said)
	return err
}
