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
		return store.Begin(agent, event.Session)
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

// A captured is a workspace into which captured sessions go.
type captured struct {
	store capture.Store
	im    *importer.Importer
}

var errNotAgreed = errors.New("no import was agreed to in this clone; 'git jp import AGENT' asks")

// openCaptured opens what sessions are captured into, in a clone where that was agreed to.
func openCaptured(ctx context.Context, a *app) (*captured, error) {
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
	return &captured{capture.StoreIn(repo.CommonDir()), im}, err
}

// flushed is how long an agent may still write what it said when it runs the hook.
const flushed = 300 * time.Millisecond

// importNoted imports what hooks noted in this workspace, unless an agent is in a turn: it would
// find the files of the working tree changed. Its last hook comes here again.
func importNoted(ctx context.Context, a *app) error {
	in, err := openCaptured(ctx, a)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(flushed):
	}
	return in.noted(ctx, a, func() bool { return in.store.Busy(a.now()) })
}

// noted imports what hooks noted in this workspace until it is told to wait. A note stays until
// its session could be imported.
func (in *captured) noted(ctx context.Context, a *app, wait func() bool) error {
	notes, err := in.store.Notes()
	if err != nil {
		return err
	}
	for _, n := range notes {
		if wait() {
			return nil
		}
		if n.Root != in.im.Workspace.Root() {
			continue
		}
		found, _ := importer.Find(ctx, placesOf(a), selectionOf(n))
		if in.take(ctx, a, found) > 0 || ctx.Err() != nil {
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

// take imports sessions that are not excluded, and returns how many could not be.
func (in *captured) take(ctx context.Context, a *app, found []importer.Found) (failed int) {
	found = slices.DeleteFunc(found, func(f importer.Found) bool {
		return in.store.Excludes(f.Name.ID, f.Dir)
	})
	for r := range in.im.All(ctx, found) {
		if ctx.Err() != nil {
			return failed
		}
		if r.Err != nil {
			failed++
			a.warn("%s: %v", sourceName(r.Found), r.Err)
		}
		if err := (importCmd{}).print(a, r); err != nil {
			failed++
		}
	}
	return failed
}
