package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/importer"
	"github.com/git-jp/git-jp/internal/listing"
	"github.com/git-jp/git-jp/internal/stage"
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

// printRecord prints a conversation that was changed, for programs. People have
// got a note.
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

// Help says what becomes of the index.
func (archiveCmd) Help() string {
	return `The directory is moved to .jp/conversations/.archive, with everything in it.
Of files that git tracks the move is staged, as 'git mv' does it; what changed in them stays as
it is.`
}

// Run archives conversations.
func (c archiveCmd) Run(ctx context.Context, a *app) error {
	return forEach(a, c.Conversation, func(e workspace.Entry) error {
		moved, err := a.openWorkspace.Archive(ctx, e.ID)
		if err != nil {
			return err
		}
		stageMove(ctx, a, e, moved)
		noteMove(a, e, moved, "archived %s in %s")
		return a.printRecord(moved)
	})
}

type unarchiveCmd struct {
	Conversation []string `arg:"" help:"Conversations to take back."`
}

// Help says what becomes of the index.
func (unarchiveCmd) Help() string {
	return `The directory is moved back from .jp/conversations/.archive.
Of files that git tracks the move is staged, as 'git mv' does it; what changed in them stays as
it is.`
}

// Run takes conversations out of the archive.
func (c unarchiveCmd) Run(ctx context.Context, a *app) error {
	return forEach(a, c.Conversation, func(e workspace.Entry) error {
		moved, err := a.openWorkspace.Unarchive(ctx, e.ID)
		if err != nil {
			return err
		}
		stageMove(ctx, a, e, moved)
		noteMove(a, e, moved, "took %s back to %s")
		return a.printRecord(moved)
	})
}

// stageMove moves in the index what was moved in the working tree, as git mv does: else 'git commit
// -a' would commit that the conversation is gone and not where it is now. The move is done, so
// that what the index refuses is a warning.
func stageMove(ctx context.Context, a *app, from, to workspace.Entry) {
	if from.Path == to.Path || from.Local {
		return
	}
	repo, err := a.repo(ctx)
	if errors.Is(err, gitint.ErrNotRepository) {
		return
	}
	if err == nil {
		err = moveInIndex(ctx, a, repo, from.Path, to.Path)
	}
	if err != nil {
		a.warn("%s was moved and that is not staged: %v", to.ID, err)
	}
}

func moveInIndex(ctx context.Context, a *app, repo *gitint.Repo, from, to string) error {
	if repo.Root() == "" {
		return nil
	}
	dir, err := a.dirInRepo(a.openWorkspace, repo)
	if err != nil {
		return err
	}
	return stage.Move(ctx, repo, path.Join(path.Dir(dir), from), path.Join(path.Dir(dir), to))
}

// noteMove says where a conversation was moved, or that it was there already.
func noteMove(a *app, from, to workspace.Entry, format string) {
	if from.Path == to.Path {
		format = "%s is in %s already"
	}
	a.note(format, to.ID, to.Path)
}

// forEach finds all conversations that names mean, and only then calls f for each,
// once: a name that means nothing stops everything.
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

// findAll returns the conversations that names mean, each once.
func findAll(a *app, names []string) (entries []workspace.Entry, err error) {
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

// Help explains what can be brought back.
func (rmCmd) Help() string {
	return `Deletes the conversation's directory and its user-local copy. What was committed
stays in history. Content stays in the store. Asks first, and says when HEAD does not
have the conversation as it is; where nobody can answer, --yes is required. Of an imported
conversation it leaves and stages a note, so that no import makes it again.`
}

// Run deletes conversations.
func (c rmCmd) Run(ctx context.Context, a *app) error {
	return forEach(a, c.Conversation, func(e workspace.Entry) error {
		d, err := a.openWorkspace.LoadDetails(e)
		if err != nil {
			d = &events.Details{}
		}
		r := listing.NewRecord(e, d)
		loss, cost := lossOf(ctx, a, e), ""
		if loss != "" {
			cost = " " + string(loss) + "."
		}
		what := fmt.Sprintf("delete %s %q", e.ID, r.Title)
		if !c.Yes && !a.terminal.Confirm(what+"?"+cost) {
			return &ask.UnconfirmedError{
				What: what, Cost: string(loss), Asked: a.terminal.In != nil,
			}
		}
		if err := a.openWorkspace.Remove(ctx, e.ID); err != nil {
			return err
		}
		if err := bury(ctx, a, e, d); err != nil {
			return err
		}
		a.note("deleted %s %q", e.ID, r.Title)
		if a.JSON {
			return a.printJSON(r)
		}
		return nil
	})
}

// bury notes that an imported conversation was removed, and stages the note: else the next import
// would make it again.
func bury(ctx context.Context, a *app, e workspace.Entry, d *events.Details) error {
	name, err := importer.Bury(a.openWorkspace, e.ID, d)
	if err != nil || name == "" || e.Local {
		return err
	}
	repo, err := a.repo(ctx)
	if errors.Is(err, gitint.ErrNotRepository) {
		return nil
	}
	if err != nil {
		return err
	}
	dir, err := a.dirInRepo(a.openWorkspace, repo)
	if err != nil {
		return err
	}
	_, err = repo.Stage(ctx, gitint.Change{
		Add: []string{path.Join(dir, name)}, LockTimeout: indexLockWait,
	})
	return err
}

// lossOf says what of a conversation cannot be brought back.
func lossOf(ctx context.Context, a *app, e workspace.Entry) stage.Loss {
	repo, err := a.repo(ctx)
	if err != nil || e.Local {
		repo = nil
	}
	return stage.LossOf(ctx, repo, a.openWorkspace.Path(e))
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
