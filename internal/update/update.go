package update

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
	"github.com/git-jp/git-jp/internal/resolve"
)

// A RefusedError reports why the branch cannot be updated.
type RefusedError struct {
	Why  string
	Hint string // "" for none
}

// Error says why.
func (e *RefusedError) Error() string { return "update the branch: " + e.Why }

// Hints says what to do first.
func (e *RefusedError) Hints() []string {
	if e.Hint == "" {
		return nil
	}
	return []string{e.Hint}
}

// A DriftError reports that this clone would not merge conversations with the drivers.
type DriftError struct{ Drift install.Drift }

// Error describes the drift.
func (e *DriftError) Error() string { return "update the branch: " + e.Drift.Sentence() }

// A NoBaseError reports that it is unknown what to merge.
type NoBaseError struct{ Remote string }

// Error names the remote.
func (e *NoBaseError) Error() string {
	return "the default branch of " + e.Remote + " is not known"
}

// A Branch is the branch that is checked out.
type Branch struct {
	Ref, Name      string
	Remote, RemRef string // where it is pushed to
}

// Options say where a merge is made, and what completes it.
type Options struct {
	Repo  *gitint.Repo
	Dirs  []string // directories .jp whose drivers have to be registered
	Hooks hooks.Env
	// Resolve returns the options for decisions that need no person.
	Resolve func(context.Context) (resolve.Options, error)
	// Said is called with the output of git and the hooks.
	Said func(string)
}

// ErrDetached says that there is no branch to speak of.
var ErrDetached = errors.New("HEAD is detached: no branch is checked out")

// Current returns the branch that is checked out. It is an error if it has no commit.
func Current(ctx context.Context, repo *gitint.Repo) (Branch, error) {
	head, err := repo.Head(ctx)
	if err != nil {
		return Branch{}, err
	}
	name, ok := strings.CutPrefix(head.Target, "refs/heads/")
	if !ok {
		return Branch{}, ErrDetached
	}
	if head.OID.IsZero() {
		return Branch{}, fmt.Errorf("branch %q does not have any commits yet", name)
	}
	b := Branch{Ref: head.Target, Name: name, RemRef: head.Target}
	if remote, ok, err := repo.Config(ctx, "branch."+name+".remote"); err != nil || ok {
		b.Remote = remote
		if err != nil {
			return b, err
		}
		merge, ok, err := repo.Config(ctx, "branch."+name+".merge")
		if err != nil {
			return b, err
		}
		if ok {
			b.RemRef = merge
		}
		return b, nil
	}
	b.Remote, err = onlyRemote(ctx, repo)
	return b, err
}

// onlyRemote returns origin, or the only remote.
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

// DefaultBase returns the base if none is named.
func DefaultBase(ctx context.Context, repo *gitint.Repo, remote string) (string, error) {
	all, err := repo.ConfigAll(ctx, baseKey)
	if err != nil {
		return "", err
	}
	if len(all) > 0 {
		is := all[len(all)-1]
		if _, err = repo.Resolve(ctx, is.Value); errors.Is(err, gitint.ErrUnknownRevision) {
			err = &gitint.ConfigError{
				Key: baseKey, Value: is.Value, Want: []string{"a revision"}, Scope: is.Scope,
			}
		}
		return is.Value, err
	}
	base := "refs/remotes/" + remote + "/HEAD"
	_, err = repo.Resolve(ctx, base)
	if errors.Is(err, gitint.ErrUnknownRevision) {
		return "", &NoBaseError{remote}
	}
	return strings.TrimPrefix(base, "refs/remotes/"), err
}

// Ready returns an error if the repository's state would add something unrequested to the merge.
func (o Options) Ready(ctx context.Context) error {
	if o.Repo.Root() == "" {
		return &RefusedError{Why: "a bare repository has no working tree"}
	}
	if merge.Waits(o.Repo) {
		return &RefusedError{
			"a merge is not committed yet",
			"'git merge --continue' completes it, 'git merge --abort' gives it up",
		}
	}
	tidy, err := o.Repo.IsTidy(ctx)
	if err != nil {
		return err
	}
	if !tidy {
		return &RefusedError{
			"tracked files have changes", "'git stash' sets them aside, 'git status' lists them",
		}
	}
	drifts, err := install.Drifts(ctx, o.Repo, o.Dirs)
	if err != nil {
		return err
	}
	for _, d := range drifts {
		if d.Mismatch != install.Unshared {
			return &DriftError{d}
		}
	}
	return nil
}

// Merge merges and returns HEAD from before and after. A merge that the hook fixed is completed: it
// needs no person.
func (o Options) Merge(
	ctx context.Context, base string,
) (before, after string, err error) {
	was, err := o.Repo.Resolve(ctx, "HEAD")
	if err != nil {
		return "", "", err
	}
	if _, err := o.Repo.Resolve(ctx, base); errors.Is(err, gitint.ErrUnknownRevision) {
		return "", "", audit.NewRevisionError(o.Repo, "merge "+base+": unknown revision")
	}
	names, err := Untracked(ctx, o.Repo, base, o.Dirs)
	if err != nil {
		return "", "", err
	}
	err = overwriting(names, func(settings ...string) error {
		return o.shown(o.Repo.Merge(ctx, base, settings...))
	})
	if err != nil {
		err = o.complete(ctx, err)
	}
	if err != nil {
		return "", "", err
	}
	if err := hooks.UniteAfter(ctx, o.Hooks, was.String(), "HEAD"); err != nil {
		return "", "", err
	}
	is, err := o.Repo.Resolve(ctx, "HEAD")
	return was.String(), is.String(), err
}

func (o Options) complete(ctx context.Context, failure error) error {
	if !merge.Waits(o.Repo) {
		return failure
	}
	how, err := o.Resolve(ctx)
	if err != nil {
		return err
	}
	r, err := resolve.New(ctx, how)
	if err != nil {
		return err
	}
	if err := r.Settle(ctx); err != nil {
		return err
	}
	index, err := o.Repo.Index(ctx)
	if err != nil {
		return err
	}
	if names := index.Conflicts(); len(names) > 0 {
		return fmt.Errorf("merge: %w", &gitint.UnmergedError{Paths: names})
	}
	return o.shown(o.Repo.CommitMerge(ctx))
}

// Push pushes the branch.
func (o Options) Push(ctx context.Context, b Branch) error {
	return o.shown(o.Repo.Push(ctx, b.Remote, b.Ref, b.RemRef))
}

// shown shows what git printed.
func (o Options) shown(said string, err error) error {
	o.Said(said)
	if err != nil {
		return fmt.Errorf("update the branch: %w", err)
	}
	return nil
}
