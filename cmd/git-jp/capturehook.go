package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/capture"
	"github.com/git-jp/git-jp/internal/importer"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/workspace"
)

// runCaptureHook notes that a session grew, and at the end of a turn starts what imports it. It
// costs one process of git and one that it does not wait for, whatever the session's length.
func runCaptureHook(ctx context.Context, a *app, agent sessions.Agent) error {
	if !isCapturable(agent) {
		return fmt.Errorf("%q is not captured", agent)
	}
	event, err := capture.ReadEvent(a.stdin)
	if err != nil {
		return err
	}
	a.Dir = event.Dir
	root, err := workspace.Find(event.Dir)
	if err != nil {
		return err
	}
	repo, err := a.repo(ctx)
	if err != nil {
		return err
	}
	store := capture.StoreIn(repo.CommonDir())
	if store.Excludes(event.Session, event.Dir) {
		return nil
	}
	if event.Moment == capture.Begun {
		return store.Begin(event.Note(agent, root))
	}
	if err := store.Add(event.Note(agent, root)); err != nil || event.Moment != capture.Ended {
		return err
	}
	if err := store.End(agent, event.Session); err != nil || !agreed(repo) {
		return err
	}
	return capture.Detach(root, a.env, "capture", "--noted")
}

// agreed reports whether somebody agreed to imports in this clone.
func agreed(repo *gitint.Repo) bool {
	_, err := os.Lstat(filepath.Join(repo.CommonDir(), "jp", agreedFile))
	return err == nil
}

// startSweep starts, in the background, what imports that which no hook told, where agents are
// captured and none is in a turn. Before a commit there is no time for more than a few looks at
// files, and no session is opened.
func startSweep(a *app, repo *gitint.Repo) error {
	root, err := workspace.Find(repo.Root())
	if errors.Is(err, workspace.ErrNoWorkspace) || !agreed(repo) {
		return nil
	}
	if err != nil {
		return err
	}
	store := capture.StoreIn(repo.CommonDir())
	if repo.Stopped() || len(store.InTurn(a.now(), root)) > 0 || len(enabled(a)) == 0 {
		return nil
	}
	if due, err := store.SweepDue(a.now()); err != nil || !due {
		return err
	}
	return capture.Detach(root, a.env, "capture", "--sweep", "--noted")
}

// sessionsInTurn names the sessions whose agents are at work in a working tree.
func sessionsInTurn(a *app, repo *gitint.Repo) (names []string) {
	for _, n := range capture.StoreIn(repo.CommonDir()).InTurn(a.now(), repo.Root()) {
		names = append(names, sessions.Name{Agent: n.Agent, ID: n.Session}.String())
	}
	return names
}

// A captured is a workspace into which captured sessions go.
type captured struct {
	store capture.Store
	im    *importer.Importer
	repo  *gitint.Repo
	// gentle leaves the working tree as it is while an agent in a turn, or a stopped rebase,
	// would find its files changed.
	gentle bool
}

func (in *captured) waits(a *app) bool {
	return in.gentle &&
		(in.repo.Stopped() || len(in.store.InTurn(a.now(), in.im.Workspace.Root())) > 0)
}

var errNotAgreed = errors.New("no import was agreed to in this clone; 'git jp import AGENT' asks")

// openCaptured opens what sessions are captured into, in a clone where that was agreed to.
func openCaptured(ctx context.Context, a *app, gentle bool) (*captured, error) {
	repo, err := a.repo(ctx)
	if err != nil {
		return nil, err
	}
	if !agreed(repo) {
		return nil, errNotAgreed
	}
	w, err := a.workspace()
	if err != nil {
		return nil, err
	}
	im, err := newImporter(ctx, a, w)
	return &captured{capture.StoreIn(repo.CommonDir()), im, repo, gentle}, err
}

// flushed is how long an agent may still write what it said when it runs the hook.
const flushed = 300 * time.Millisecond

// importNoted imports what hooks noted in this workspace, unless an agent is in a turn. Its last
// hook comes here again.
func importNoted(ctx context.Context, a *app) error {
	in, err := openCaptured(ctx, a, true)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(flushed):
	}
	return in.noted(ctx, a)
}

// noted imports what hooks noted in this workspace. A note stays until its session could be
// imported.
func (in *captured) noted(ctx context.Context, a *app) error {
	notes, err := in.store.Notes()
	if err != nil {
		return err
	}
	for _, n := range notes {
		if n.Root != in.im.Workspace.Root() {
			continue
		}
		found, _ := importer.Find(ctx, placesOf(a), selectionOf(n))
		if in.take(ctx, a, found) > 0 || ctx.Err() != nil || in.waits(a) {
			continue
		}
		if err := in.store.Done(n); err != nil {
			return err
		}
	}
	return nil
}

// selectionOf are the sessions that a note means: what is in its file, or what the agent has of
// that name where the file is gone, packed or none.
func selectionOf(n capture.Note) importer.Selection {
	if _, err := os.Lstat(n.Path); err == nil {
		return importer.Selection{Root: n.Root, Paths: []string{n.Path}}
	}
	return importer.Selection{
		Root: n.Root, Agents: []sessions.Agent{n.Agent}, IDs: []string{n.Session},
	}
}

// take imports sessions that are not excluded, and returns how many could not be. What is no
// session is none that waits: a hook says what somebody had it say.
func (in *captured) take(ctx context.Context, a *app, found []importer.Found) (failed int) {
	found = slices.DeleteFunc(found, func(f importer.Found) bool {
		return errors.Is(f.Err, importer.ErrUnknown) || errors.Is(f.Err, regular.ErrNot) ||
			in.store.Excludes(f.Name.ID, f.Dir)
	})
	if in.waits(a) {
		return 0
	}
	for r := range in.im.All(ctx, found) {
		if ctx.Err() != nil {
			return failed
		}
		if r.Err != nil {
			failed++
			a.warn("%s: %v", sourceName(r.Found), r.Err)
		}
		if err := (importCmd{}).print(a, in.im, r); err != nil {
			failed++
		}
		if in.waits(a) {
			return failed
		}
	}
	return failed
}
