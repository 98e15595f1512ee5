package gitint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/git"
	"github.com/git-jp/git-jp/gitint/internal/object"
	"github.com/git-jp/git-jp/gitint/internal/odb"
)

// UnnamedStashes returns the stashes to which nothing leads, the newest first: those that git makes
// before a merge that it may have to undo, and dropped ones. They are among the loose objects until
// git prunes them or, in some versions, packs them as unreachable.
func (r *Repo) UnnamedStashes(ctx context.Context) (all []Commit, err error) {
	loose, err := odb.LooseIn(r.objectDirectory())
	var kinds []string
	if err == nil {
		kinds, err = r.ObjectKinds(ctx, loose)
	}
	var ids strings.Builder
	for i, kind := range kinds {
		if kind == object.KindCommit {
			ids.WriteString(loose[i].String() + "\n")
		}
	}
	if err == nil && ids.Len() > 0 {
		all, err = r.commitsOf(ctx, git.Command{
			Args: []string{
				"rev-list", "--no-walk=sorted", "--format=tformat:%H %P", "--min-parents=2",
				"--grep=^WIP on ", "--grep=^On ", "--stdin",
			},
			Stdin: strings.NewReader(ids.String()),
		})
	}
	var roots *Roots
	if err == nil && len(all) > 0 {
		roots, err = r.Roots(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("list stashes without a name: %w", err)
	}
	return slices.DeleteFunc(all, func(c Commit) bool { // none is the parent of another commit
		return slices.ContainsFunc(roots.Names, func(n Root) bool { return n.OID == c.OID })
	}), nil
}
