package review

import (
	"context"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/ondemand"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Range is the input of [Between].
type Range struct{ Base, Head gitint.OID }

// Fetch fetches the conversations that ranges changed, in a clone that may lack them, and, if
// contents is set, the blobs of the added turns.
func Fetch(ctx context.Context, repo *gitint.Repo, contents bool, ranges ...Range) error {
	if partial, err := repo.Partial(ctx); err != nil || !partial {
		return err
	}
	var all []ondemand.Place
	for _, r := range ranges {
		if err := repo.NeedTrees(ctx, r.Base, r.Head); err != nil {
			return err
		}
		c, err := compare(ctx, repo, r.Base, r.Head)
		if err != nil {
			return err
		}
		for _, p := range c.pairs {
			if p.before != nil {
				all = append(all, p.before.in(c.was, noTurn))
			}
			all = append(all, p.after.in(c.is, func(conv *workspace.Conversation) func(int) bool {
				is, err := c.added(p, conv)
				if err != nil {
					return func(int) bool { return false }
				}
				return func(turn int) bool { return is.Has(turn + 1) }
			}))
		}
	}
	return ondemand.Fetch(ctx, repo, contents, all...)
}

func (p place) in(
	tree *gitint.Tree, wanted func(*workspace.Conversation) func(int) bool,
) ondemand.Place {
	return ondemand.Place{
		Entry: p.Entry, Snapshot: tree, Store: p.jp + "/" + blobs.Dir, Wanted: wanted,
	}
}

// noTurn selects no turns.
func noTurn(*workspace.Conversation) func(int) bool { return func(int) bool { return false } }
