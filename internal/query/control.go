package query

import (
	"context"
	"errors"
	"sync"

	"github.com/git-jp/git-jp/internal/tool"
)

// A Phase is what a turn is doing.
type Phase int

// The phases in which a turn can be interrupted.
const (
	PhaseNone   Phase = iota // nothing that takes long
	PhaseAnswer              // it listens to the model
	PhaseTools               // it waits for tools
)

// An Act is what somebody wants of a turn that runs. The zero value is nothing.
type Act int

// The acts. What a phase cannot do ends it as ActStop does.
const (
	// ActStop keeps what was said, ends the tools that run, and ends the turn.
	ActStop Act = iota + 1
	// ActReply is ActStop, but the turn goes on with Wish.Reply: as the next request, or as
	// what the user says about the tools that were ended.
	ActReply
	// ActAbort takes back the answer that is being said, and ends the turn.
	ActAbort
	// ActCancel ends the tools that run; the model is told, and goes on.
	ActCancel
	// ActRestart ends the tools that run and calls them again.
	ActRestart
)

// A Wish is an act with what belongs to it.
type Wish struct {
	Act   Act
	Reply string // of ActReply
}

// A Control interrupts a turn from another goroutine. The zero value is ready; it serves one
// turn.
type Control struct {
	mu     sync.Mutex
	phase  Phase
	cancel context.CancelCauseFunc // of the phase
	wish   Wish
}

// Phase returns what the turn is doing now.
func (c *Control) Phase() Phase {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.phase
}

// Want interrupts the phase, or the next one when the turn is between two.
func (c *Control) Want(w Wish) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wish = w
	if c.cancel != nil {
		c.cancel(w.cause())
	}
}

// errRestart is why calls ended that are to be made again.
var errRestart = errors.New("the call is made again")

// cause is how those who run in the phase learn why they are ended.
func (w Wish) cause() error {
	if w.Act == ActRestart {
		return errRestart
	}
	return &tool.Cancelled{Reply: w.Reply}
}

// begin opens a phase. What runs in it runs with the context; end closes the phase and
// returns what somebody wanted meanwhile.
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
