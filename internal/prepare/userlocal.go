package prepare

import (
	"context"
	"path/filepath"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/trust"
	"github.com/git-jp/git-jp/internal/workspace"
)

// localKey is the key of the claim of a workspace to user-local conversations.
const localKey = "user-local"

func localClaim(dir string) trust.Claim {
	return trust.Claim{Kind: trust.Path, Key: localKey, Value: dir, Origin: ".jp/.id"}
}

// LocalClaims returns the claim to user-local conversations that belong to another root.
func LocalClaims(w *workspace.Workspace) []trust.Claim {
	if dir := w.StrangeDir(); dir != "" {
		return []trust.Claim{localClaim(dir)}
	}
	return nil
}

// Shares reports whether the workspace at root may use the user-local data in dir, which belongs to
// the workspace whose .jp is jp, "" if unknown: another worktree of the same repository may, or one
// that the user approved, as after a move.
func (h *Host) Shares(root, dir, jp string) bool {
	return jp != "" && h.sameRepository(root, filepath.Dir(jp)) || h.Approved(root)(localClaim(dir))
}

// sameRepository reports whether two directories are working trees of one repository.
func (h *Host) sameRepository(one, other string) bool {
	common := func(dir string) string {
		ctx := context.Background() // reads a few files and does not block
		r, err := gitint.Open(ctx, gitint.Options{Dir: dir, Env: h.Env, Now: h.Now})
		if err != nil {
			return ""
		}
		defer func() { _ = r.Close() }() // opened for reading
		return r.CommonDir()
	}
	c := common(one)
	return c != "" && regular.SameFile(c, common(other))
}

// AdoptLocal lets a workspace use the user-local conversations that have its id but may be
// another's, if the user agrees: it asks on a terminal; without an approval it prints a warning
// with the command for it.
func (h *Host) AdoptLocal(w *workspace.Workspace) error {
	dir := w.StrangeDir()
	if dir == "" {
		return nil
	}
	gate, err := h.Gate(w.Root())
	if err != nil {
		return err
	}
	if gate.Allow(localClaim(dir)) == nil {
		return w.Adopt()
	}
	h.warn("the user-local conversations in %s may belong to another workspace with the "+
		"same id; to use them here: 'git jp trust %s'", dir, localKey)
	return nil
}
