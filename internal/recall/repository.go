package recall

import (
	"context"
	"fmt"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/review"
	"github.com/git-jp/git-jp/internal/update"
)

// A Repository finds what commits and branches added, for [Options].
type Repository struct {
	// Open opens the repository on demand, since agents start the server in every project.
	Open func(context.Context) (*gitint.Repo, error)
	Warn func(error)
}

// Added returns the conversations that a commit added to.
func (r Repository) Added(ctx context.Context, commit string) ([]review.Conversation, error) {
	repo, err := r.Open(ctx)
	if err != nil {
		return nil, err
	}
	head, err := repo.Resolve(ctx, commit)
	if err != nil {
		return nil, err
	}
	base, cut, err := repo.Parent(ctx, head)
	if err != nil {
		return nil, err
	}
	if cut {
		return nil, fmt.Errorf("commit %s: %w", head, review.ErrCut)
	}
	return r.between(ctx, repo, base, head)
}

// Review returns the conversations that this branch added to since its base.
func (r Repository) Review(ctx context.Context, named string) ([]review.Conversation, error) {
	repo, err := r.Open(ctx)
	if err != nil {
		return nil, err
	}
	base, head, err := update.Ends(ctx, repo, named)
	if err != nil {
		return nil, err
	}
	return r.between(ctx, repo, base, head)
}

func (r Repository) between(
	ctx context.Context, repo *gitint.Repo, base, head gitint.OID,
) ([]review.Conversation, error) {
	err := review.Fetch(ctx, repo, false, review.Range{Base: base, Head: head})
	if err != nil {
		r.Warn(err)
	}
	return review.Between(ctx, repo, base, head, r.Warn)
}
