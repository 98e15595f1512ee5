package main

import (
	"context"
	"errors"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/listing"
	"github.com/git-jp/git-jp/internal/shelf"
	"github.com/git-jp/git-jp/internal/workspace"
)

type renameCmd struct {
	Conversation string   `arg:"" help:"The conversation."`
	Title        []string `arg:"" optional:"" help:"The new title."`
	NoTitle      bool     `help:"Remove the title."`
}

// Help explains what moves.
func (renameCmd) Help() string {
	return `Changes metadata.json. The directory of a conversation that Git does not have yet is
named after the title, so it is renamed too, with everything in it. Once Git has the
conversation its directory keeps its name, so that what others do to it merges: a conversation
is found by its id.`
}

// Run gives a conversation another title.
func (c renameCmd) Run(ctx context.Context, a *app) error {
	title := strings.TrimSpace(strings.Join(c.Title, " "))
	switch {
	case c.NoTitle && title != "":
		return usagef("--no-title and a title cannot be used together")
	case !c.NoTitle && title == "":
		return usagef("expected \"<title> ...\", or --no-title")
	}
	e, err := a.find(c.Conversation)
	if err != nil {
		return err
	}
	if err := a.openWorkspace.Rename(ctx, e.ID, title); err != nil {
		return err
	}
	e, err = a.find(e.ID.String())
	if err != nil {
		return err
	}
	a.note("renamed %s, in %s", e.ID, e.Path)
	return a.printRecord(e)
}

// printRecord prints a changed conversation for programs. People have seen a note.
func (a *app) printRecord(e workspace.Entry) error {
	if !a.JSON {
		return nil
	}
	details, err := a.openWorkspace.LoadDetails(e)
	if err != nil {
		return err
	}
	r := listing.NewRecord(e, details)
	r.Active = e.ID == activeID(a, a.openWorkspace)
	return a.printJSON(r)
}

type archiveCmd struct {
	Conversation []string `arg:"" help:"Conversations to archive."`
}

// Help says what happens to the index.
func (archiveCmd) Help() string {
	return `The directory is moved to .jp/conversations/.archive, with everything in it.
Of files that git tracks the move is staged, as 'git mv' does it; what changed in them stays as
it is.`
}

// Run archives conversations.
func (c archiveCmd) Run(ctx context.Context, a *app) error {
	return forEach(a, c.Conversation, func(e workspace.Entry) error {
		moved, err := shelfOf(a).Archive(ctx, e)
		if err != nil {
			return err
		}
		return a.printRecord(moved)
	})
}

type unarchiveCmd struct {
	Conversation []string `arg:"" help:"Conversations to move back."`
}

// Help says what happens to the index.
func (unarchiveCmd) Help() string {
	return `The directory is moved back from .jp/conversations/.archive.
Of files that git tracks the move is staged, as 'git mv' does it; what changed in them stays as
it is.`
}

// Run takes conversations out of the archive.
func (c unarchiveCmd) Run(ctx context.Context, a *app) error {
	return forEach(a, c.Conversation, func(e workspace.Entry) error {
		moved, err := shelfOf(a).Unarchive(ctx, e)
		if err != nil {
			return err
		}
		return a.printRecord(moved)
	})
}

// shelfOf returns the conversations of the open workspace.
func shelfOf(a *app) shelf.Shelf {
	return shelf.Shelf{
		Workspace: a.openWorkspace, Terminal: a.terminal, Repo: a.repo, Dir: a.dirInRepo,
		LockWait: indexLockWait,
	}
}

// forEach finds all named conversations, and only then calls f for each, once: an unknown name
// stops everything.
func forEach(a *app, names []string, f func(workspace.Entry) error) error {
	entries, err := findAll(a, names)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := f(e); err != nil {
			return err
		}
	}
	return nil
}

// findAll returns the named conversations, each once; without a name, the active one.
func findAll(a *app, names []string) (entries []workspace.Entry, err error) {
	if len(names) == 0 {
		names = []string{"."}
	}
	seen := make(map[events.ID]bool)
	for _, name := range names {
		e, err := a.find(name)
		if err != nil {
			return nil, err
		}
		if !seen[e.ID] {
			seen[e.ID] = true
			entries = append(entries, e)
		}
	}
	return entries, nil
}

type rmCmd struct {
	Conversation []string `arg:"" help:"Conversations to delete."`
	Yes          bool     `short:"y" help:"Do not ask."`
}

// Help explains what can be restored.
func (rmCmd) Help() string {
	return `Deletes the conversation's directory and its user-local copy. What was committed
stays in history. Content stays in the store. Asks first, and says when HEAD does not
have the conversation as it is; where nobody can answer, --yes is required. Of an imported
conversation it leaves and stages a note, so that no import makes it again.`
}

// Run deletes conversations.
func (c rmCmd) Run(ctx context.Context, a *app) error {
	return forEach(a, c.Conversation, func(e workspace.Entry) error {
		r, err := shelfOf(a).Remove(ctx, e, c.Yes)
		if err == nil && a.JSON {
			err = a.printJSON(r)
		}
		return err
	})
}

type useCmd struct {
	Conversation string `arg:"" help:"The conversation; - for the previous one."`
}

// Help says what "active" means.
func (useCmd) Help() string {
	return `Makes a conversation the active one of this terminal, which commands mean when they are
given none or a dot. jp shares it.`
}

// Run switches the active conversation.
func (c useCmd) Run(ctx context.Context, a *app) error {
	e, err := a.find(c.Conversation)
	if err != nil {
		return err
	}
	w := a.openWorkspace
	if e.Partition == workspace.Archive {
		if e, err = w.Unarchive(ctx, e.ID); err != nil {
			return err
		}
		a.note("took %s out of the archive", e.ID)
	}
	if err := activate(a, w, e.ID); err != nil {
		return err
	}
	err = w.UpdateDetails(ctx, e.ID, func(d *events.Details) error {
		d.LastActivatedAt = a.now().UTC()
		return nil
	})
	if err != nil && !errors.Is(err, workspace.ErrLegacy) {
		a.warn("note when %s was last active: %v", e.ID, err)
	}
	a.note("active: %s %q", e.ID, a.openWorkspace.Title(e))
	return a.printRecord(e)
}
