package importer

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/git-jp/git-jp/internal/capture"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/sessions"
)

// A Captured imports the sessions of agents whose hooks are installed.
type Captured struct {
	*Importer

	Store  capture.Store
	Places sessions.Places
	Now    func() time.Time
	// Stopped, if set, reports whether a rebase or a bisection waits for the user. The working tree
	// is then not changed. It is not changed during a turn of an agent either, which would find its
	// files changed.
	Stopped func() bool
	// Report is called with the outcome for each session.
	Report func(Result) error
}

// Waits reports whether the working tree is not to be changed now.
func (in Captured) Waits() bool {
	return in.Stopped != nil &&
		(in.Stopped() || len(in.Store.InTurn(in.Now(), in.Workspace.Root())) > 0)
}

// flushed are the times between looks at a session whose turn has ended: an agent may still write
// messages from before it ran the hook, the later the busier the machine is.
var flushed = []time.Duration{
	300 * time.Millisecond, 1200 * time.Millisecond, 5 * time.Second, 20 * time.Second,
}

// Sweep imports the sessions of some agents that have grown, and returns how many could not be
// read.
func (in Captured) Sweep(ctx context.Context, agents []sessions.Agent) (failed int, err error) {
	found, _ := Find(ctx, in.Places, Selection{Agents: agents, Root: in.Workspace.Root()})
	_, failed = in.take(ctx, found)
	return failed, in.settle(ctx, 0)
}

// Noted imports the sessions that hooks noted in this workspace, at the end of a turn. It looks at
// them twice, and again until nothing is new: else the last message of a turn would be missing
// until the next one.
func (in Captured) Noted(ctx context.Context) error { return in.settle(ctx, flushed...) }

// settle looks at the noted sessions after each of these times, or fewer if nothing is new. A note
// is kept until then, and if its session could not be imported.
func (in Captured) settle(ctx context.Context, waits ...time.Duration) error {
	for i, wait := range waits {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		again, err := in.look(ctx, func(grown bool) bool {
			return i < len(waits)-1 && (grown || i == 0)
		})
		if err != nil || !again {
			return err
		}
	}
	return nil
}

// look imports the noted sessions, and reports whether any is to be looked at again.
func (in Captured) look(
	ctx context.Context, isAgain func(grown bool) bool,
) (again bool, err error) {
	notes, err := in.Store.Notes()
	if err != nil {
		return false, err
	}
	for _, n := range notes {
		if !regular.SameFile(n.Root, in.Workspace.Root()) {
			if n.IsGone() {
				err = errors.Join(err, in.Store.Done(n))
			}
			continue
		}
		grown, failed := in.noted(ctx, n)
		switch {
		case ctx.Err() != nil || in.Waits():
			continue
		case isAgain(grown || failed > 0): // its agent may be writing what could not be read
			again = true
			continue
		case failed > 0:
			continue
		}
		if err := in.Store.Done(n); err != nil {
			return false, err
		}
	}
	return again, err
}

// Has reports whether a noted session of this workspace has nothing new, as after an import that
// reads no notes. It imports what it finds, except in a dry run.
func (in Captured) Has(ctx context.Context, n capture.Note) bool {
	if !regular.SameFile(n.Root, in.Workspace.Root()) {
		return false
	}
	grown, failed := in.noted(ctx, n)
	return !grown && failed == 0
}

// noted imports a noted session.
func (in Captured) noted(ctx context.Context, n capture.Note) (grown bool, failed int) {
	found, _ := Find(ctx, in.Places, selectionOf(n))
	return in.take(ctx, found)
}

// selectionOf returns the selection for a note: the sessions in its file, or those of its name if
// the file is missing, compressed or not given.
func selectionOf(n capture.Note) Selection {
	if _, err := os.Lstat(n.Path); err == nil {
		return Selection{Root: n.Root, Paths: []string{n.Path}}
	}
	return Selection{Root: n.Root, Agents: []sessions.Agent{n.Agent}, IDs: []string{n.Session}}
}

// take imports sessions that are not excluded, and returns whether one had grown, and how many
// failed. A file that is no session does not count: anyone can run a hook with any arguments.
func (in Captured) take(ctx context.Context, found []Found) (grown bool, failed int) {
	found = slices.DeleteFunc(found, func(f Found) bool {
		return errors.Is(f.Err, ErrUnknown) || errors.Is(f.Err, regular.ErrNot) ||
			in.Store.Excludes(f.Name.ID, f.Dir)
	})
	if in.Waits() {
		return false, 0
	}
	for r := range in.All(ctx, found) {
		if ctx.Err() != nil {
			return grown, failed
		}
		if r.Err != nil {
			failed++
		}
		grown = grown || r.Err == nil && r.Outcome.State != Unchanged && r.Outcome.State != Removed
		if err := in.Report(r); err != nil {
			failed++
		}
		if in.Waits() {
			break
		}
	}
	return grown, failed
}
