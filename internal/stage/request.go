package stage

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/refs"
)

// A Selection says which conversations a request selects.
type Selection int

// The selections.
const (
	// Named selects those of IDs.
	Named Selection = iota
	// Changed selects those whose files differ from the index or are not in it, and those that
	// refer to blobs which the index does not have.
	Changed
	// All selects every conversation of the working tree and of the index.
	All
)

// A Request says what to stage.
type Request struct {
	Repo *gitint.Repo // required
	// Dir is the directory .jp, a slash path from the root of the working tree.
	Dir    string // required
	Select Selection
	IDs    []events.ID
	// Beside includes the files beside all conversations, such as redaction entries, and not only
	// those beside the named ones.
	Beside bool
	// Drop are blobs to remove from the index, unless the new index refers to them.
	Drop []blobs.Hash
	// Strict makes warnings refuse the stage.
	Strict bool
	// NoContent makes a plan that is only shown cheaper: content is looked for and not read, so
	// that only missing content is found.
	NoContent bool
	// MaxBlobBytes is the limit of one content; 0 means the default.
	MaxBlobBytes int64
	// Cache caches what streams refer to. It may be nil.
	Cache *refs.Cache
	// Secrets are the findings that the user approved, and the user's own secrets.
	Secrets leaks.Options
	// Locked, if set, returns an error that names who is writing a conversation, nil if no process
	// is.
	Locked func(events.ID) error
	// Progress, if set, is called with how far a stage has come.
	Progress func(stage string, done, total int)
}

// ErrNoConversation reports that neither the working tree nor the index has a conversation.
var ErrNoConversation = errors.New("no such conversation")

// A RefusedError reports that nothing was staged because of findings.
type RefusedError struct {
	Report *check.Report
}

// Error counts the findings; the report lists them.
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
	// Plan is the last plan.
	Plan *Plan
	// Added and Removed are the paths that the index got and lost.
	Added, Removed []string
}

// attempts limits how often a stage is planned while conversations are being written.
const attempts = 5

// A MovedError reports that a file of a conversation differed from the plan's at every attempt.
type MovedError struct {
	Path string // from the root of the working tree
}

// Error names the file.
func (e *MovedError) Error() string {
	return fmt.Sprintf("stage %s: it was changed, moved or removed in the meantime", e.Path)
}

// Run plans and applies a request. The error is a *RefusedError when the conversations are not fit
// to be committed.
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

// again repeats f a few times if conversations move meanwhile.
func again(f func() error) (err error) {
	for range attempts {
		if err = f(); !errors.As(err, new(*MovedError)) {
			return err
		}
	}
	return err
}
