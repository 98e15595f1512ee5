package main

import (
	"context"
	"path/filepath"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/trust"
	"github.com/git-jp/git-jp/internal/workspace"
)

// userLocalKey is the key of the claim of a workspace to user-local conversations.
const userLocalKey = "user-local"

// sharesIn returns what says whether the workspace at root may have user-local data that
// belongs to another root, or to none that is known: another worktree of the same repository
// may, and whatever the user approved, as after a move.
func sharesIn(a *app, root string) func(dir, jp string) bool {
	return func(dir, jp string) bool {
		return jp != "" && sameRepository(a, root, filepath.Dir(jp)) ||
			a.host().Approved(root)(userLocalClaim(dir))
	}
}

func userLocalClaim(dir string) trust.Claim {
	return trust.Claim{Kind: trust.Path, Key: userLocalKey, Value: dir, Origin: ".jp/.id"}
}

// sameRepository reports whether two directories are working trees of one repository.
func sameRepository(a *app, one, other string) bool {
	common := func(dir string) string {
		ctx := context.Background() // a few files are read, and nothing is waited for
		r, err := gitint.Open(ctx, gitint.Options{Dir: dir, Env: a.env, Now: a.now})
		if err != nil {
			return ""
		}
		defer func() { _ = r.Close() }() // opened for reading
		return r.CommonDir()
	}
	c := common(one)
	return c != "" && regular.SameFile(c, common(other))
}

// userLocalClaims returns the claim to user-local conversations that are another root's.
func userLocalClaims(w *workspace.Workspace) []trust.Claim {
	if dir := w.StrangeDir(); dir != "" {
		return []trust.Claim{userLocalClaim(dir)}
	}
	return nil
}

// adoptLocal lets a workspace have the user-local conversations that have its id and may be
// another's, if the user says so: on a terminal they are asked, and without one told how.
func adoptLocal(a *app, w *workspace.Workspace) error {
	dir := w.StrangeDir()
	if dir == "" {
		return nil
	}
	gate, err := a.host().Gate(w.Root())
	if err != nil {
		return err
	}
	if gate.Allow(userLocalClaim(dir)) == nil {
		return w.Adopt()
	}
	a.warn("the user-local conversations in %s may be another workspace's, which has the same "+
		"id; if they are of this one: 'git jp trust %s'", dir, userLocalKey)
	return nil
}
