package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/capture"
	"github.com/git-jp/git-jp/internal/importer"
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
	if err := store.End(agent, event.Session); err != nil || !importer.Agreed(repo.CommonDir()) {
		return err
	}
	return capture.Detach(root, a.env, "capture", "--noted")
}

// startSweep starts, in the background, what imports that which no hook told, where agents are
// captured and none is in a turn. Before a commit there is no time for more than a few looks at
// files, and no session is opened.
func startSweep(a *app, repo *gitint.Repo) error {
	root, err := workspace.Find(repo.Root())
	if errors.Is(err, workspace.ErrNoWorkspace) || !importer.Agreed(repo.CommonDir()) {
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

var errNotAgreed = errors.New("no import was agreed to in this clone; 'git jp import AGENT' asks")

// openCaptured opens what sessions are captured into, in a clone where that was agreed to. A gentle
// one leaves the working tree as it is while an agent in a turn, or a stopped rebase, would find
// its files changed.
func openCaptured(ctx context.Context, a *app, gentle bool) (in importer.Captured, err error) {
	repo, err := a.repo(ctx)
	if err != nil {
		return in, err
	}
	if !importer.Agreed(repo.CommonDir()) {
		return in, errNotAgreed
	}
	w, err := a.workspace()
	if err != nil {
		return in, err
	}
	in = importer.Captured{
		Store: capture.StoreIn(repo.CommonDir()), Places: placesOf(a), Now: a.now,
	}
	if gentle {
		in.Stopped = repo.Stopped
	}
	in.Report = func(r importer.Result) error {
		if r.Err != nil {
			a.warn("%s: %v", sourceName(r.Found), r.Err)
		}
		return importCmd{}.print(a, in.Importer, r)
	}
	in.Importer, err = newImporter(ctx, a, w)
	return in, err
}

// importNoted imports what hooks noted in this workspace, unless an agent is in a turn. Its last
// hook comes here again.
func importNoted(ctx context.Context, a *app) error {
	in, err := openCaptured(ctx, a, true)
	if err == nil {
		err = importer.Flushed(ctx)
	}
	if err != nil {
		return err
	}
	return in.Noted(ctx)
}
