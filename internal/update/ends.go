package update

import (
	"cmp"
	"context"
	"fmt"

	"github.com/git-jp/git-jp/gitint"
)

// An UnnamedError reports that a base has to be named, and why.
type UnnamedError struct{ Err error }

// Error says how to name it.
func (e *UnnamedError) Error() string {
	return "name the base, as in 'git jp review main': " + e.Err.Error()
}

// Unwrap returns the reason.
func (e *UnnamedError) Unwrap() error { return e.Err }

// Ends returns the two ends of a branch: the commit where head left the base, and head. Without
// BASE[..HEAD] these are the checked-out commit, and the base that would be merged into it.
func Ends(ctx context.Context, repo *gitint.Repo, named string) (base, head gitint.OID, err error) {
	ends, ok := gitint.ParseRange(named)
	if !ok {
		ends.From = named
	}
	from, to := ends.From, cmp.Or(ends.To, "HEAD")
	if from == "" {
		b, err := Current(ctx, repo)
		if err == nil {
			from, err = DefaultBase(ctx, repo, b.Remote)
		}
		if err != nil {
			return base, head, &UnnamedError{err}
		}
	}
	if base, err = repo.Resolve(ctx, from+"^{commit}"); err != nil {
		return base, head, err
	}
	if head, err = repo.Resolve(ctx, to+"^{commit}"); err != nil {
		return base, head, err
	}
	fork, err := repo.MergeBase(ctx, base.String(), head.String())
	if err != nil {
		return base, head, fmt.Errorf("compare %s and %s: %w", from, to, err)
	}
	return fork, head, nil
}
