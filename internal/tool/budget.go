package tool

import (
	"context"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// A budget is the remaining time of a call. It is paused while the user is asked: the time that a
// user takes to answer is not the program's.
type budget struct {
	now    func() time.Time
	expire context.CancelFunc

	mu      sync.Mutex
	left    time.Duration // when last paused
	since   time.Time     // when last resumed
	waiting int           // open questions
	timer   *time.Timer
}

type budgetKey struct{}

// newBudget returns a context that ends when limit is used up; zero is no limit.
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

// end releases the timer and the context of the budget.
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

// Waiting pauses the time of the call with this context, because the user is asked on its behalf,
// until answered is called.
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

// asking passes the budget of a call to its Asker, from whichever context a question comes.
type asking struct {
	Asker
	budget *budget
}

// Ask implements [Asker].
func (a asking) Ask(ctx context.Context, q Question) (jsontext.Value, error) {
	return a.Asker.Ask(a.budget.in(ctx), q)
}
