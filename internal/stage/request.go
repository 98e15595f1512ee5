package stage

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/refs"
)

// A Selection says which conversations a request means.
type Selection int

// The selections.
const (
	// Named means those of IDs.
	Named Selection = iota
	// Changed means those whose files differ from the index or are not in it, and those
	// that refer to blobs which the index does not have.
	Changed
	// All means every conversation of the working tree and of the index.
	All
)

// A Request says what to stage.
type Request struct {
	Repo *gitint.Repo // required
	// Dir is the directory .jp, a slash path from the root of the working tree.
	Dir    string // required
	Select Selection
	IDs    []events.ID
	// Strict makes warnings refuse the stage.
	Strict bool
	// NoContent makes a plan that is only shown cheaper: content is looked for and not
	// read, so that only what is absent is found.
	NoContent bool
	// MaxBlobBytes is the limit of one content; 0 means the default.
	MaxBlobBytes int64
	// Cache remembers what streams refer to. It may be nil.
	Cache *refs.Cache
	// Secrets say what is no secret by the user's leave, and what is one of the user's own.
	Secrets leaks.Options
	// Locked, if set, returns who is writing a conversation, nil for nobody.
	Locked func(events.ID) error
	// Progress, if set, is told how far a stage has come.
	Progress func(stage string, done, total int)
}

// ErrNoConversation says that neither the working tree nor the index has a
// conversation.
var ErrNoConversation = errors.New("no such conversation")

// A RefusedError says that nothing was staged because of what was found.
type RefusedError struct {
	Report *check.Report
}

// Error counts what was found; the report says what.
func (e *RefusedError) Error() string {
	n := e.Report.Count(check.Error)
	if n == 0 {
		n = e.Report.Count(check.Warning)
	}
	if n == 1 {
		return "stage: 1 problem"
	}
	return fmt.Sprintf("stage: %d problems", n)
}

// A Result says what was staged.
type Result struct {
	// Plan is what was planned at last.
	Plan *Plan
	// Added and Removed are the paths that the index got and lost.
	Added, Removed []string
}

// attempts is how often a stage is planned while conversations are written to.
const attempts = 5

// A MovedError says that a file of a conversation was not the one of the plan any more, whenever
// it was looked at again.
type MovedError struct {
	Path string // from the root of the working tree
}

// Error names the file.
func (e *MovedError) Error() string {
	return fmt.Sprintf("stage %s: it was changed, moved or removed meanwhile", e.Path)
}

// Run plans and applies a request. The error is a *RefusedError when the
// conversations are not fit to be committed.
func Run(ctx context.Context, req Request) (res Result, err error) {
	err = again(func() error {
		plan, err := newPlan(ctx, req)
		if err == nil {
			res, err = plan.Apply(ctx)
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
		if name := plan.moved(); name != "" {
			return &MovedError{name}
		}
		return err
	})
	return res, err
}

// NewPlan finds out what a request would do and changes nothing.
func NewPlan(ctx context.Context, req Request) (p *Plan, err error) {
	err = again(func() error {
		p, err = newPlan(ctx, req)
		return err
	})
	return p, err
}

// again does something while conversations move below it, a few times.
func again(f func() error) (err error) {
	for range attempts {
		if err = f(); !errors.As(err, new(*MovedError)) {
			return err
		}
	}
	return err
}
