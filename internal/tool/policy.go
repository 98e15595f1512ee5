package tool

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// A Mode is whether the user is asked before a call runs, or before its result is delivered.
type Mode string

// The modes, as the configuration spells them. The zero value means Ask for calls.
const (
	Ask        Mode = "ask"
	Unattended Mode = "unattended"
	Edit       Mode = "edit" // ask, with the arguments or the result in an editor
	Skip       Mode = "skip"
)

// parseMode reads a mode; "" means absent.
func parseMode(s string) (Mode, error) {
	switch m := Mode(s); m {
	case "", Ask, Unattended, Edit, Skip:
		return m, nil
	}
	return "", fmt.Errorf("%q is not a mode", s)
}

// A Policy sets how calls of one tool are treated.
type Policy struct {
	Run    Mode // zero asks
	Result Mode // zero delivers
	// Format is whether the tool may format arguments before the call is approved.
	Format Mode // zero asks
	// Timeout limits a call; zero is no limit.
	Timeout time.Duration
	// Cancelled is the text for a model when a call is interrupted; "" for a default.
	Cancelled string
}

// A Gate asks the user. Its methods are called one at a time.
type Gate interface {
	// Admit decides about a call of a tool whose policy is [Ask] or [Edit], and about any call with
	// a Caution.
	Admit(ctx context.Context, r Request) (Decision, error)
	// Deliver decides about a result if the policy requires it, and returns the result to deliver.
	Deliver(ctx context.Context, r Request, result Result) (Result, error)
}

// A Request is the call that a Gate decides about.
type Request struct {
	Call   Call
	Policy Policy
	Origin string // of a [Renamed] tool: its name does not say what the call does
	// Formatter formats the arguments; nil if the tool has none. It may start a process, before the
	// call is approved: see Policy.Format.
	Formatter Formatter
	// Caution has subjects if the user must be asked whatever the policy says, and whatever was
	// answered for other calls of the tool.
	Caution Caution
}

// A Decision about a call. The zero value skips it.
type Decision struct {
	Run bool
	// Arguments replace those of the call, unless nil.
	Arguments jsontext.Value
	// Reply is the text for the model in place of a result, if the call is skipped.
	Reply string
}

// Cancelled is the cause of a context that the user cancelled, with the user's reply, if any.
type Cancelled struct{ Reply string }

// Error implements error.
func (c *Cancelled) Error() string {
	if c.Reply == "" {
		return "cancelled by the user"
	}
	return "cancelled by the user: " + c.Reply
}
