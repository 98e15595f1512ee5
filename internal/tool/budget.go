package tool

import (
	"context"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// A budget is the time that a call has left. It stands still while somebody is asked: how long a
// person thinks says nothing about a program.
type budget struct {
	now    func() time.Time
	expire context.CancelFunc

	mu      sync.Mutex
	left    time.Duration // when it last stood still
	since   time.Time     // when it last went on
	waiting int           // questions that are open
	timer   *time.Timer
}

type budgetKey struct{}

// newBudget returns a context that ends when limit is used up; of zero there is no end.
func newBudget(
	ctx context.Context, limit time.Duration, now func() time.Time,
) (context.Context, *budget) {
	run, cancel := context.WithCancel(ctx)
	b := &budget{now: now, expire: cancel, left: limit, since: now()}
	if limit > 0 {
		b.timer = time.AfterFunc(limit, cancel)
	}
	return b.in(run), b
}

// in returns a context in which [Waiting] stops the budget.
func (b *budget) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, budgetKey{}, b)
}

// end lets go of what the budget holds.
func (b *budget) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timer != nil {
		b.timer.Stop()
	}
	b.expire()
}

// isWaiting reports whether a question is open.
func (b *budget) isWaiting() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waiting > 0
}

// Waiting says that a person is asked on behalf of the call whose context this is: until answered
// is called, the time of the call stands still.
func Waiting(ctx context.Context) (answered func()) {
	b, ok := ctx.Value(budgetKey{}).(*budget)
	if !ok {
		return func() {}
	}
	b.stop()
	return b.resume
}

func (b *budget) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting++
	if b.waiting == 1 && b.timer != nil && b.timer.Stop() {
		b.left -= b.now().Sub(b.since)
	}
}

func (b *budget) resume() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting--
	if b.waiting == 0 && b.timer != nil {
		b.since = b.now()
		b.timer.Reset(max(b.left, 0))
	}
}

// asking is who answers the questions of a call, with its budget wherever a question comes from.
type asking struct {
	Asker
	budget *budget
}

// Ask implements [Asker].
func (a asking) Ask(ctx context.Context, q Question) (jsontext.Value, error) {
	return a.Asker.Ask(a.budget.in(ctx), q)
}
