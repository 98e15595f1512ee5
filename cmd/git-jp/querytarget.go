package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A target is the conversation that a question goes to, and what was asked there or written down
// before it is asked.
type target struct {
	query.Target

	app      *app
	replayed *events.ChatRequest // the question that is asked again
	draft    *ask.Draft          // where the question was written, nil for nowhere
}

func (t *target) dropDraft() error {
	if t.draft == nil {
		return nil
	}
	return t.draft.Remove()
}

// errNoneActive says that nothing tells which conversation is meant.
var errNoneActive error = &situation{
	"no conversation is active",
	"'git jp query --new' begins a conversation, '--id' names one of 'git jp ls'",
}

func (c queryCmd) target(ctx context.Context, a *app) (_ *target, err error) {
	w, err := c.workspace(ctx, a)
	if err != nil {
		return nil, err
	}
	t := &target{app: a, Target: query.Target{Workspace: w, Activate: activateIfKnown(a, w)}}
	if c.NoPersist {
		defer func() {
			if err == nil {
				t.KeepNothing()
			}
		}()
	}
	first, err := c.first(w)
	if err != nil {
		return nil, err
	}
	if c.New || first {
		if c.Local {
			if err := adoptLocal(a, w); err != nil {
				return nil, err
			}
		}
		t.Fresh = true
		t.Create = &workspace.NewConversation{
			Details: c.newDetails(a), Local: c.Local,
		}
		return t, nil
	}
	e, err := c.chosen(a)
	if !c.ID.Given && isA[*workspace.NotFoundError](err) {
		if a.terminal.NewPrompter(ctx) == nil {
			return nil, errNoneActive
		}
		e, err = pickOne(a)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case c.Replay:
		return t, c.replay(ctx, t, e)
	case c.Fork.Given:
		return t, c.fork(ctx, t, e)
	case c.NoPersist:
		return t, t.Look(e)
	}
	if c.Compact.given() {
		if e, err = compactFirst(ctx, a, e, c.Compact, c.Yes); err != nil {
			return nil, err
		}
	}
	return t, c.take(ctx, t, e)
}

// begins reports whether a question may begin a conversation: it names none to go on with.
func (c queryCmd) begins() bool {
	return !c.ID.Given && !c.Replay && !c.Fork.Given && !c.Compact.given()
}

// first reports whether a question that names no conversation is the first one of a workspace:
// then it begins a conversation, for there is none that could be meant.
func (c queryCmd) first(w *workspace.Workspace) (bool, error) {
	if !c.begins() {
		return false, nil
	}
	entries, _, err := w.List(workspace.ListOptions{Archived: true, Local: true})
	return len(entries) == 0, err
}

// newDetails are those of a new conversation. The time when it may go counts from now, its
// beginning.
func (c queryCmd) newDetails(a *app) *events.Details {
	d := &events.Details{LastActivatedAt: a.now().UTC()}
	if c.Tmp.Given {
		at := a.now().UTC().Add(c.Tmp.Value)
		d.ExpiresAt = &at
	}
	return d
}

// chosen is the conversation that --id names.
func (c queryCmd) chosen(a *app) (workspace.Entry, error) {
	if c.ID.Given && (c.ID.Value == "" || c.ID.Value == "?") {
		return pickOne(a)
	}
	return a.findOr(c.ID.Value)
}

// workspace returns the workspace. A question that begins a conversation makes it where there is
// none: at the top of a working tree, elsewhere only where a person wants it.
func (c queryCmd) workspace(ctx context.Context, a *app) (*workspace.Workspace, error) {
	w, err := a.workspace()
	if !errors.Is(err, workspace.ErrNoWorkspace) || !c.begins() || c.Explain || c.NoPersist {
		return w, err
	}
	repo, repoErr := a.repo(ctx)
	if repoErr != nil && !errors.Is(repoErr, gitint.ErrNotRepository) {
		return nil, repoErr
	}
	root, rootErr := initRoot(a, "", repo)
	if rootErr != nil {
		return nil, rootErr
	}
	if repo == nil || a.getenv("GIT_PREFIX") != "" || !regular.SameFile(a.directory(), root) {
		if wanted, askErr := wantsWorkspace(ctx, a, root); !wanted {
			return nil, cmp.Or(askErr, err)
		}
	}
	return makeWorkspace(a, root, repo != nil)
}

// wantsWorkspace asks whether a workspace is to be made. Where nobody is, it is not.
func wantsWorkspace(ctx context.Context, a *app, root string) (bool, error) {
	p := a.terminal.NewPrompter(ctx)
	if p == nil {
		return false, nil
	}
	s, err := p.Open(ctx)
	if err != nil {
		return false, err
	}
	answer, err := s.Key("Make a workspace in %s? [y]es, [n]o: ", root)
	_ = s.Close()
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	return err == nil && (answer == "y" || answer == "yes"), nil
}

// makeWorkspace makes a workspace without what 'git jp init' installs in a repository, and says so.
func makeWorkspace(a *app, root string, inRepo bool) (*workspace.Workspace, error) {
	conf, err := a.configAt("")
	if err != nil {
		return nil, err
	}
	if err := refuseLeftOut(a, root); err != nil {
		return nil, err
	}
	if _, err := workspace.Init(root, a.workspaceEnv(conf.Settings())); err != nil {
		return nil, err
	}
	rest := ""
	if inRepo {
		rest = "; 'git jp init' adds hooks and merge drivers"
	}
	a.note("made a workspace in %s%s", root, rest)
	a.openConfig = nil // it was read without the workspace
	a.openWorkspace, err = a.workspaceAt(root)
	return a.openWorkspace, err
}

// fork begins a conversation with turns of another.
func (c queryCmd) fork(ctx context.Context, t *target, e workspace.Entry) error {
	conv, err := t.Workspace.Load(e)
	if err != nil {
		return err
	}
	return c.forkOf(ctx, t, conv, events.ForkOptions{Last: c.Fork.Last})
}

func (c queryCmd) forkOf(
	ctx context.Context, t *target, conv *workspace.Conversation, o events.ForkOptions,
) error {
	details, err := workspace.ForkDetails(conv, o, t.app.now())
	if err != nil {
		return err
	}
	if c.Title != "" {
		details.Title = &c.Title
	}
	stream := conv.Stream.Fork(o)
	query.Detach(stream)
	stream, err = compactedFork(ctx, t.app, conv, stream, c.Compact)
	if err != nil {
		return err
	}
	t.Create = &workspace.NewConversation{
		Details: details, Stream: stream, BaseConfig: conv.BaseConfig,
		Local: conv.Local, AllowDangling: true,
	}
	return nil
}

// replay begins a conversation without the last turn of another, whose question is asked
// again. What was answered stays where it is.
func (c queryCmd) replay(ctx context.Context, t *target, e workspace.Entry) error {
	conv, err := t.Workspace.Load(e)
	if err != nil {
		return err
	}
	turns := conv.Stream.Turns()
	if len(turns) == 0 {
		return fmt.Errorf("replay %s: %w", e.ID, errNoQuestion)
	}
	stream, last := conv.Stream.Clone(), turns[len(turns)-1].First
	for i := last; i < stream.Len() && t.replayed == nil; i++ {
		t.replayed, _ = stream.At(i).Event().(*events.ChatRequest)
	}
	if t.replayed == nil {
		return fmt.Errorf("replay %s: %w", e.ID, errNoQuestion)
	}
	for i := stream.Len() - 1; i >= last; i-- {
		if stream.At(i).Kind() != events.KindConfigDelta {
			stream.Remove(i, 1)
		}
	}
	conv.Stream = stream
	t.app.note("asked again in a fork; the answer stays in %s", e.ID)
	return c.forkOf(ctx, t, conv, events.ForkOptions{})
}

var errNoQuestion = errors.New("nothing was asked yet")

// take holds an existing conversation. Where somebody else has it, a person may wait or fork;
// a script is told at once.
func (c queryCmd) take(ctx context.Context, t *target, e workspace.Entry) (err error) {
	t.ID = e.ID
	at, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	t.Hold, err = t.Workspace.Hold(at, e.ID)
	held := new(workspace.LockedError)
	if !errors.As(err, &held) {
		return err
	}
	p := t.app.terminal.NewPrompter(ctx)
	if p == nil {
		return err
	}
	switch answer := waitOrFork(ctx, p, held); answer {
	case "f":
		t.ID = 0
		return c.fork(ctx, t, e)
	case "w":
		return t.Wait(ctx, e.ID)
	default:
		return err
	}
}

// waitOrFork asks what to do about a conversation that somebody else has.
func waitOrFork(ctx context.Context, p *ask.Prompter, held *workspace.LockedError) string {
	s, err := p.Open(ctx)
	if err != nil {
		return ""
	}
	defer func() { _ = s.Close() }()
	for {
		answer, err := s.Key("%v\n[w]ait, [f]ork and ask there, [q]uit: ", held)
		switch {
		case err != nil, answer == "q":
			return ""
		case answer == "f":
			return answer
		case answer == "w":
			s.Say("going on when it is free\n")
			return answer
		}
	}
}

// activateIfKnown returns what makes a conversation the active one of this terminal, where
// something tells it from others.
func activateIfKnown(a *app, w *workspace.Workspace) func(events.ID) error {
	return func(id events.ID) error {
		s, ok := workspace.SessionOf(a.workspaceEnv(a.openConfig.Settings()))
		if !ok {
			return nil
		}
		return w.Activate(s, id)
	}
}
