package llm

import (
	"context"
	"iter"
	"sync/atomic"
	"time"

	"github.com/git-jp/git-jp/internal/llm/wire"
)

// Patience limits the wait for an answer of a server that only shows that it is alive, by comments
// or by events without content. The HTTP client, which counts bytes, would wait for it without end.
// The zero value has no limit.
type Patience struct {
	First time.Duration // for the beginning of an answer
	Idle  time.Duration // for each further piece
}

// alive is how much longer a server is waited for that shows that it is alive: a gateway says so
// while a model thinks or waits for its turn.
const alive = 10

// PatienceOf returns the limits for a client.
func PatienceOf(o wire.ClientOptions) Patience {
	first, idle := o.Limits()
	return Patience{First: alive * first, Idle: alive * idle}
}

// watch returns an exchange that ends when patience does. The time that the consumer of a piece
// takes does not count.
func (p Patience) watch(
	provider string, exchange func(context.Context) iter.Seq2[Delta, error],
) func(context.Context) iter.Seq2[Delta, error] {
	if p == (Patience{}) {
		return exchange
	}
	return func(ctx context.Context) iter.Seq2[Delta, error] {
		return func(yield func(Delta, error) bool) {
			ctx, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			var begun atomic.Bool
			limit := func() time.Duration {
				if begun.Load() {
					return p.Idle
				}
				return p.First
			}
			timer := time.AfterFunc(limit(), func() {
				cancel(&wire.IdleError{
					Provider: provider, After: limit(), First: !begun.Load(), Alive: true,
				})
			})
			defer timer.Stop()
			for d, err := range exchange(ctx) {
				timer.Stop()
				if !yield(d, err) {
					return
				}
				if d.Kind != DeltaUsage {
					begun.Store(true)
				}
				timer.Reset(limit())
			}
		}
	}
}
