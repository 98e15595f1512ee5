package main

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/compactor"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/question"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

// errNoneActive reports that no conversation is named or active.
var errNoneActive error = &situation{
	"no conversation is active",
	"'git jp query --new' begins a conversation, '--id' names one of 'git jp ls'",
}

// target returns the conversation that the question goes to.
func (c queryCmd) target(ctx context.Context, a *app) (_ *question.Target, err error) {
	w, err := c.workspace(ctx, a)
	if err != nil {
		return nil, err
	}
	t := &question.Target{
		Target:   query.Target{Workspace: w, Activate: activateIfKnown(a, w)},
		Terminal: a.terminal, ForkTitle: c.Title, Spec: c.Compact.Spec,
		Compaction: func(conv *workspace.Conversation) (compactor.Job, error) {
			return compactionOf(a, conv)
		},
	}
	if c.NoPersist {
		defer func() {
			if err == nil {
				t.KeepNothing()
			}
		}()
	}
	first, err := c.first(a, w)
	if err != nil {
		return nil, err
	}
	if c.New || first {
		if c.Local {
			if err := a.host().AdoptLocal(w); err != nil {
				return nil, err
			}
		}
		t.Fresh = true
		t.Create = &workspace.NewConversation{Details: c.newDetails(a), Local: c.Local}
		return t, nil
	}
	e, err := c.chosen(ctx, a)
	if err != nil {
		return nil, err
	}
	switch {
	case c.Replay:
		return t, t.Replay(ctx, e)
	case c.Fork.Given:
		return t, t.Fork(ctx, e, c.Fork.Last)
	case c.NoPersist:
		return t, t.Look(e)
	case c.Compact.given():
		if e, err = compactFirst(ctx, a, e, c.Compact, c.Yes); err != nil {
			return nil, err
		}
	}
	return t, t.Take(ctx, e)
}

// begins reports whether a question may begin a conversation: it names no conversation to continue.
func (c queryCmd) begins() bool {
	return !c.ID.Given && !c.Replay && !c.Fork.Given && !c.Compact.given()
}

// first reports whether a question that names no conversation is the first one of a workspace: then
// it begins a conversation, since there is none to continue. An imported session is continued only
// if it is named, or active.
func (c queryCmd) first(a *app, w *workspace.Workspace) (bool, error) {
	if !c.begins() {
		return false, nil
	}
	entries, _, err := w.List(workspace.ListOptions{Archived: true, Local: true})
	own := func(e workspace.Entry) bool { return !e.ID.IsDerived() }
	if err != nil || slices.ContainsFunc(entries, own) {
		return false, err
	}
	if len(entries) > 0 {
		_, err = a.findOr("")
		return isA[*workspace.NotFoundError](err), nil
	}
	return true, nil
}

// newDetails returns the metadata of a new conversation. The expiry time counts from now, its
// beginning.
func (c queryCmd) newDetails(a *app) *events.Details {
	d := &events.Details{LastActivatedAt: a.now().UTC()}
	if c.Tmp.Given {
		at := a.now().UTC().Add(c.Tmp.Value)
		d.ExpiresAt = &at
	}
	return d
}

// chosen returns the conversation that --id names, or the active one. If none is active, the person
// chooses one.
func (c queryCmd) chosen(ctx context.Context, a *app) (workspace.Entry, error) {
	if c.ID.Given && (c.ID.Value == "" || c.ID.Value == "?") {
		return pickOne(a)
	}
	e, err := a.findOr(c.ID.Value)
	switch {
	case c.ID.Given || !isA[*workspace.NotFoundError](err):
		return e, err
	case a.terminal.NewPrompter(ctx) == nil:
		return e, errNoneActive
	}
	return pickOne(a)
}

// workspace returns the workspace. If there is none, a question that begins a conversation makes
// it: at the top of a working tree at once, elsewhere only after asking.
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
		if wanted, askErr := question.WantsWorkspace(ctx, a.terminal, root); !wanted {
			return nil, cmp.Or(askErr, err)
		}
	}
	return makeWorkspace(ctx, a, root, repo != nil)
}

// makeWorkspace makes a workspace without the hooks and drivers that 'git jp init' installs in a
// repository, and says so.
func makeWorkspace(
	ctx context.Context, a *app, root string, inRepo bool,
) (*workspace.Workspace, error) {
	conf, err := a.configAt("")
	if err != nil {
		return nil, err
	}
	if _, err := initialize(ctx, a, root, conf.Settings()); err != nil {
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

// activateIfKnown returns a function that makes a conversation the active one of this terminal, if
// the terminal can be distinguished from others. If that fails, as with a home directory that
// cannot be written, it prints a warning: the conversation is saved, and repeating the command
// would save another.
func activateIfKnown(a *app, w *workspace.Workspace) func(events.ID) {
	return func(id events.ID) {
		s, ok := workspace.SessionOf(a.workspaceEnv(a.openConfig.Settings()))
		if !ok {
			return
		}
		if err := w.Activate(s, id); err != nil {
			a.warn("%v; 'git jp query --id %s' continues it", err, id)
		}
	}
}
