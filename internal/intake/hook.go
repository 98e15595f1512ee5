package intake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/capture"
	"github.com/git-jp/git-jp/internal/importer"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/workspace"
)

// ErrNotAgreed reports that hooks and sweeps import nothing in a clone.
var ErrNotAgreed = errors.New("no import was agreed to in this clone; 'git jp import AGENT' asks")

// Agreed returns [ErrNotAgreed] unless the user agreed to imports in the clone.
func Agreed(repo *gitint.Repo) error {
	if !importer.Agreed(repo.CommonDir()) {
		return ErrNotAgreed
	}
	return nil
}

// Note notes that a session of the workspace at root grew, and at the end of a turn starts, with
// these variables, the process that imports it. It does not wait for that process, whatever the
// session's length.
func Note(
	repo *gitint.Repo, root string, agent sessions.Agent, event capture.Event, env []string,
) error {
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
	if err := store.End(agent, event.Session); err != nil || Agreed(repo) != nil {
		return err
	}
	return capture.Detach(root, env, "capture", "--noted")
}

// StartSweep starts, in the background and with these variables, an import of sessions that no hook
// noted, if agents are captured and none is in a turn. Before a commit there is only time for a few
// looks at files, and no session is opened.
func StartSweep(repo *gitint.Repo, places sessions.Places, now time.Time, env []string) error {
	root, err := workspace.Find(repo.Root())
	if errors.Is(err, workspace.ErrNoWorkspace) || !importer.Agreed(repo.CommonDir()) {
		return nil
	}
	if err != nil {
		return err
	}
	store := capture.StoreIn(repo.CommonDir())
	if repo.Stopped() || len(store.InTurn(now, root)) > 0 || len(Enabled(places)) == 0 {
		return nil
	}
	if due, err := store.SweepDue(now); err != nil || !due {
		return err
	}
	return capture.Detach(root, env, "capture", "--sweep", "--noted")
}

// Enabled returns the agents that have hooks of ours.
func Enabled(places sessions.Places) []sessions.Agent {
	return lists.Filter(capture.Agents(), func(agent sessions.Agent) bool {
		ok, err := capture.Installed(places, agent)
		return err == nil && ok
	})
}

// InTurn names the sessions whose agents are in a turn in a working tree.
func InTurn(repo *gitint.Repo, now time.Time) (names []string) {
	for _, n := range capture.StoreIn(repo.CommonDir()).InTurn(now, repo.Root()) {
		names = append(names, sessions.Name{Agent: n.Agent, ID: n.Session}.String())
	}
	return names
}

// Captured returns the importer for sessions of agents whose hooks are installed. A gentle one does
// not change the working tree while an agent in a turn, or a stopped rebase, would find its files
// changed.
func (in Intake) Captured(
	repo *gitint.Repo, places sessions.Places, gentle bool,
) importer.Captured {
	c := importer.Captured{
		Importer: in.Importer, Store: capture.StoreIn(repo.CommonDir()), Places: places,
		Now: in.Terminal.Now, Report: in.Report,
	}
	if gentle {
		c.Stopped = repo.Stopped
	}
	return c
}

// Sweep imports what grew in sessions of some agents, whether or not a hook noted it.
func Sweep(ctx context.Context, c importer.Captured, agents []sessions.Agent) error {
	failed, err := c.Sweep(ctx, agents)
	if err == nil && failed > 0 {
		err = fmt.Errorf("sweep: %s could not be read", render.Count(failed, "session"))
	}
	return err
}

// NoteWaiting says how many sessions wait in a clone to be imported. Without an importer, as where
// the user has not agreed to imports, these are all that hooks noted.
func NoteWaiting(ctx context.Context, p *render.Printer, c importer.Captured) error {
	notes, err := c.Store.Notes()
	if c.Importer != nil {
		c.Dry, c.Report = true, func(importer.Result) error { return nil }
		notes = slices.DeleteFunc(notes, func(n capture.Note) bool { return c.Has(ctx, n) })
	}
	if err == nil && len(notes) > 0 {
		p.Note("%s noted here and not imported yet (git jp capture --sweep)",
			render.Count(len(notes), "session"))
	}
	return err
}
