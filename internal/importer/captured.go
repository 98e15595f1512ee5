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
	// Stopped, if set, reports whether a rebase waits for the user. The working tree is then not
	// changed. It is not changed during a turn of an agent either, which would find its files
	// changed.
	Stopped func() bool
	// Report is called with the outcome for each session.
	Report func(Result) error
}

func (in Captured) waits() bool {
	return in.Stopped != nil &&
		(in.Stopped() || len(in.Store.InTurn(in.Now(), in.Workspace.Root())) > 0)
}

// flushed is how long an agent may still write earlier messages after it ran the hook.
const flushed = 300 * time.Millisecond

// Flushed waits until an agent has written the messages from before it ran the hook.
func Flushed(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(flushed):
		return nil
	}
}

// Sweep imports the sessions of some agents that have grown, and returns how many could not be
// read.
func (in Captured) Sweep(ctx context.Context, agents []sessions.Agent) (failed int, err error) {
	found, _ := Find(ctx, in.Places, Selection{Agents: agents, Root: in.Workspace.Root()})
	failed = in.take(ctx, found)
	return failed, in.Noted(ctx)
}

// Noted imports the sessions that hooks noted in this workspace. A note is kept until its session
// could be imported.
func (in Captured) Noted(ctx context.Context) error {
	notes, err := in.Store.Notes()
	if err != nil {
		return err
	}
	for _, n := range notes {
		if n.Root != in.Workspace.Root() {
			continue
		}
		found, _ := Find(ctx, in.Places, selectionOf(n))
		if in.take(ctx, found) > 0 || ctx.Err() != nil || in.waits() {
			continue
		}
		if err := in.Store.Done(n); err != nil {
			return err
		}
	}
	return nil
}

// selectionOf returns the selection for a note: the sessions in its file, or those of its name if
// the file is missing, compressed or not given.
func selectionOf(n capture.Note) Selection {
	if _, err := os.Lstat(n.Path); err == nil {
		return Selection{Root: n.Root, Paths: []string{n.Path}}
	}
	return Selection{Root: n.Root, Agents: []sessions.Agent{n.Agent}, IDs: []string{n.Session}}
}

// take imports sessions that are not excluded, and returns how many failed. A file that is no
// session does not count: anyone can run a hook with any arguments.
func (in Captured) take(ctx context.Context, found []Found) (failed int) {
	found = slices.DeleteFunc(found, func(f Found) bool {
		return errors.Is(f.Err, ErrUnknown) || errors.Is(f.Err, regular.ErrNot) ||
			in.Store.Excludes(f.Name.ID, f.Dir)
	})
	if in.waits() {
		return 0
	}
	for r := range in.All(ctx, found) {
		if ctx.Err() != nil {
			return failed
		}
		if r.Err != nil {
			failed++
		}
		if err := in.Report(r); err != nil {
			failed++
		}
		if in.waits() {
			return failed
		}
	}
	return failed
}
