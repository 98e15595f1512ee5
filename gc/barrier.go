package gc

import (
	"context"
	"errors"

	"github.com/git-jp/git-jp/internal/regular"
)

// A barrier collects the obstacles to a deletion.
type barrier struct{ obstacles []Obstacle }

func (b *barrier) obstruct(o Obstacle) { b.obstacles = append(b.obstacles, o) }

// unread records that the system refuses to read something that may have roots.
func (b *barrier) unread(what string, err error) {
	reason := ReasonFiles
	if errors.Is(err, regular.ErrNot) {
		reason = ReasonIrregular
	}
	b.obstruct(Obstacle{Reason: reason, Root: what, Detail: err.Error()})
}

func (b *barrier) refused() error {
	if len(b.obstacles) == 0 {
		return nil
	}
	return &RefusedError{Obstacles: b.obstacles}
}

// absorb turns an error of the repository into an obstacle, unless ctx is done.
func (b *barrier) absorb(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	b.obstruct(Obstacle{Reason: reasonOf(err), Detail: err.Error()})
	return b.refused()
}
