package tool

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// A Mode says what happens before a call runs, or before its result is delivered.
type Mode string

// The modes, as the configuration spells them. The zero value is Ask.
const (
	Ask        Mode = "ask"
	Unattended Mode = "unattended"
	Edit       Mode = "edit" // ask, with the arguments or the result in an editor
	Skip       Mode = "skip"
)

// parseMode reads a mode; "" is absent.
func parseMode(s string) (Mode, error) {
	switch m := Mode(s); m {
	case "", Ask, Unattended, Edit, Skip:
		return m, nil
	}
	return "", fmt.Errorf("%q is no mode", s)
}

// A Policy says how calls of one tool are treated.
type Policy struct {
	Run    Mode // zero asks
	Result Mode // zero delivers
	// Format says whether the tool may format arguments before the call is approved.
	Format Mode // zero asks
	// Timeout ends a call; zero is that of the Executor.
	Timeout time.Duration
	// Cancelled is what a model is told when a call is interrupted; "" is a sentence.
	Cancelled string
}

// A Gate asks a person. Its methods are called one at a time.
type Gate interface {
	// Admit decides about a call of a tool whose policy is [Ask] or [Edit], and about any
	// that has a Caution.
	Admit(ctx context.Context, r Request) (Decision, error)
	// Deliver decides about a result where the policy asks for it: it returns the
	// result that is delivered.
	Deliver(ctx context.Context, r Request, result Result) (Result, error)
}

// A Request is what a Gate is asked about.
type Request struct {
	Call       Call
	Definition Definition
	Policy     Policy
	// Formatter shows the arguments, nil when the tool has none. It may start a
	// process, before the call is approved: see Policy.Format.
	Formatter Formatter
	// Caution has subjects when the call is asked about whatever the policy says, and
	// whatever was answered for other calls of the tool.
	Caution Caution
}

// A Decision about a call. The zero value skips it.
type Decision struct {
	Run bool
	// Arguments replace those of the call when not nil.
	Arguments jsontext.Value
	// Reply is what a model is told instead of a result when the call is skipped.
	Reply string
}

// Cancelled as the cause of a context says that a person ended the calls, and what
// they said, if anything.
type Cancelled struct{ Reply string }

// Error says that somebody ended it.
func (c *Cancelled) Error() string {
	if c.Reply == "" {
		return "cancelled by the user"
	}
	return "cancelled by the user: " + c.Reply
}
