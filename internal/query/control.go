package query

import (
	"context"
	"errors"
	"sync"

	"github.com/git-jp/git-jp/internal/tool"
)

// A Phase says what a turn is waiting for.
type Phase int

// The phases in which a turn can be interrupted.
const (
	PhaseNone   Phase = iota // nothing that takes long
	PhaseAnswer              // it waits for the model
	PhaseTools               // it waits for tools
)

// An Act is how the user interrupts a running turn. The zero value is no interrupt.
type Act int

// The acts. In a phase that an act does not apply to, it acts like ActStop.
const (
	// ActStop keeps the partial answer, ends the running tools, and ends the turn.
	ActStop Act = iota + 1
	// ActReply is ActStop, but the turn continues with Wish.Reply: as the next request, or as the
	// user's comment on the tools that were ended.
	ActReply
	// ActAbort discards the partial answer and ends the turn.
	ActAbort
	// ActCancel ends the running tools; the model is informed and continues.
	ActCancel
	// ActRestart ends the running tools and calls them again.
	ActRestart
)

// A Wish is an act with its argument.
type Wish struct {
	Act   Act
	Reply string // for ActReply
}

// A Control interrupts a turn from another goroutine. The zero value is ready to use. It serves one
// turn.
type Control struct {
	mu     sync.Mutex
	phase  Phase
	cancel context.CancelCauseFunc // of the phase
	wish   Wish
}

// Phase returns the current phase.
func (c *Control) Phase() Phase {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.phase
}

// Want interrupts the current phase, or the next one if the turn is between two phases.
func (c *Control) Want(w Wish) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wish = w
	if c.cancel != nil {
		c.cancel(w.cause())
	}
}

// errRestart cancels calls that are to be made again.
var errRestart = errors.New("the call is made again")

// cause returns the error with which the context of the phase is cancelled.
func (w Wish) cause() error {
	if w.Act == ActRestart {
		return errRestart
	}
	return &tool.Cancelled{Reply: w.Reply}
}

// begin opens a phase and returns its context. end closes the phase and returns the wish that
// interrupted it, if any.
func (c *Control) begin(ctx context.Context, p Phase) (_ context.Context, end func() Wish) {
	ctx, cancel := context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.phase, c.cancel = p, cancel
	if c.wish.Act != 0 {
		cancel(c.wish.cause())
	}
	return ctx, func() Wish {
		c.mu.Lock()
		defer c.mu.Unlock()
		w := c.wish
		c.phase, c.cancel, c.wish = PhaseNone, nil, Wish{}
		cancel(nil)
		return w
	}
}
