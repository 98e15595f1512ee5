package gc

import "context"

// A barrier collects the obstacles to a deletion.
type barrier struct{ obstacles []Obstacle }

func (b *barrier) obstruct(o Obstacle) { b.obstacles = append(b.obstacles, o) }

// unread records that the system refuses to read something that may have roots.
func (b *barrier) unread(what string, err error) {
	b.obstruct(Obstacle{Reason: ReasonFiles, Root: what, Detail: err.Error()})
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
