package main

import (
	"context"
	"path/filepath"

	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/configure"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/upkeep"
	"github.com/git-jp/git-jp/internal/workspace"
)

type migrateCmd struct {
	Conversation []string `arg:"" optional:"" help:"Conversations; all by default."`
	To           string   `enum:"blobs,inline" default:"blobs" help:"blobs, or inline as today's jp reads it."`
	DryRun       bool     `short:"n" help:"Print what would change and what it would save."`
}

// Help explains the two forms.
func (migrateCmd) Help() string {
	return `--to blobs moves what tools returned and people attached into the store and leaves
references. --to inline takes it back into events.json, so that today's jp can read it.
Both ways a conversation says the same before and after, which is verified. A migration
can be interrupted and run again.

Migrating all conversations also sets storage.format for the workspace, so that new ones
are stored alike.`
}

// Run migrates conversations.
func (c migrateCmd) Run(ctx context.Context, a *app) error {
	root, err := a.root()
	if err != nil {
		return err
	}
	conf, err := a.configAt(root)
	if err != nil {
		return err
	}
	settings, to := conf.Settings(), config.Format(c.To)
	is := settings.Storage.Format
	if len(c.Conversation) > 0 && !c.DryRun && is != to {
		return usagef("the workspace stores content as %q and would undo that at the next save; "+
			"migrate all conversations, or set storage.format first", is)
	}
	settings.Storage.Format = to
	w, err := a.openAt(root, a.workspaceEnv(settings))
	if err != nil {
		return err
	}
	a.openWorkspace = w
	finishCollection(a, w)
	entries, err := c.entries(a, w)
	if err != nil {
		return err
	}
	m := upkeep.Migration{Printer: &a.terminal.Printer, To: to, DryRun: c.DryRun}
	switch failed, err := m.Run(ctx, w, entries); {
	case err != nil:
		return err
	case failed:
		return report.ErrProblems
	case c.DryRun, len(c.Conversation) > 0, is == to:
		return nil
	}
	return c.setFormat(a)
}

// entries returns the conversations to migrate: those that are named, or all. User-local ones are
// in jp's own storage, so jp reads them, too.
func (c migrateCmd) entries(a *app, w *workspace.Workspace) ([]workspace.Entry, error) {
	all, problems, err := w.List(workspace.ListOptions{Archived: true, Local: true})
	for _, p := range problems {
		a.warn("%s", p)
	}
	if err != nil {
		return nil, err
	}
	if len(c.Conversation) == 0 {
		return all, workspace.Unlisted(problems)
	}
	return findAll(a, c.Conversation)
}

// setFormat makes the new form the workspace's own once every conversation has it.
func (c migrateCmd) setFormat(a *app) error {
	file := filepath.Join(a.openWorkspace.Dir(), config.OwnFile)
	if err := configure.Edit(file, func(data []byte) ([]byte, error) {
		return config.Set(data, file, "storage.format", c.To)
	}); err != nil {
		return err
	}
	a.note("set storage.format to %q in %s", c.To, filepath.Join(workspace.DirName, config.OwnFile))
	return nil
}
