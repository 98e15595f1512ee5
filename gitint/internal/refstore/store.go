package refstore

import (
	"context"

	"github.com/git-jp/git-jp/gitint/internal/object"
)

// Head is git's name for the checked-out commit.
const Head = "HEAD"

// A Ref is a name for an object.
type Ref struct {
	// Name is the full name, such as refs/heads/main.
	Name string
	// Target is the target of a symbolic ref.
	Target string
	// OID is the object of the ref, after following symbolic refs. It is zero only for a HEAD whose
	// branch has no commit.
	OID object.ID
	// Peeled is the object to which an annotated tag finally leads, and OID for everything else. It
	// is zero if the store does not have it, or if an object on the way is missing or damaged.
	Peeled object.ID
}

// A Place says where the refs of one working tree are.
type Place struct {
	GitDir, CommonDir string
	IDSize            int
}

// A Store has the refs of one working tree.
type Store interface {
	// List returns the refs below refs/, and what is wrong with those without a value.
	List(ctx context.Context) (refs []Ref, broken []string, err error)
	// Own returns the per-worktree refs, also pseudo-refs if these are not files.
	Own(ctx context.Context) (refs []Ref, broken []string, err error)
	// Head returns HEAD with its target. It has no peeled object.
	Head(ctx context.Context) (Ref, error)
	// Logs returns the reflogs of the working tree, with those of branches for the main one. Of the
	// refs that are known it does not ask whether they exist.
	Logs(ctx context.Context, known func(name string) bool) ([]Log, error)
}
