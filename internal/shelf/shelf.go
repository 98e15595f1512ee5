package shelf

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/importer"
	"github.com/git-jp/git-jp/internal/listing"
	"github.com/git-jp/git-jp/internal/stage"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Shelf has the conversations of a workspace.
type Shelf struct {
	Workspace *workspace.Workspace
	Terminal  *ask.Terminal
	// Repo opens the repository, once.
	Repo func(context.Context) (*gitint.Repo, error)
	// Dir returns the path of .jp in the repository.
	Dir func(*workspace.Workspace, *gitint.Repo) (string, error)
	// LockWait is how long to wait for the index.
	LockWait time.Duration
}

// Archive moves a conversation into the archive.
func (s Shelf) Archive(ctx context.Context, e workspace.Entry) (workspace.Entry, error) {
	moved, err := s.Workspace.Archive(ctx, e.ID)
	if err == nil {
		s.follow(ctx, e, moved, "archived %s in %s")
	}
	return moved, err
}

// Unarchive moves a conversation out of the archive.
func (s Shelf) Unarchive(ctx context.Context, e workspace.Entry) (workspace.Entry, error) {
	moved, err := s.Workspace.Unarchive(ctx, e.ID)
	if err == nil {
		s.follow(ctx, e, moved, "unarchived %s to %s")
	}
	return moved, err
}

// follow moves in the index what was moved in the working tree, as git mv does: otherwise 'git
// commit -a' would commit the removal of the conversation without its new place. The move itself is
// done, so an error of the index is only a warning. It prints where the conversation is, or that it
// was there already.
func (s Shelf) follow(ctx context.Context, from, to workspace.Entry, format string) {
	if from.Path == to.Path {
		s.Terminal.Note("%s is in %s already", to.ID, to.Path)
		return
	}
	if err := s.moveInIndex(ctx, from, to); err != nil {
		s.Terminal.Warn("moved %s, but the move is not staged: %v", to.ID, err)
	}
	s.Terminal.Note(format, to.ID, to.Path)
}

func (s Shelf) moveInIndex(ctx context.Context, from, to workspace.Entry) error {
	if from.Local {
		return nil
	}
	repo, err := s.Repo(ctx)
	switch {
	case errors.Is(err, gitint.ErrNotRepository):
		return nil
	case err != nil:
		return err
	case repo.Root() == "":
		return nil
	}
	dir, err := s.Dir(s.Workspace, repo)
	if err != nil {
		return err
	}
	dir = path.Dir(dir)
	return stage.Move(ctx, repo, path.Join(dir, from.Path), path.Join(dir, to.Path))
}

// Remove deletes a conversation, after the user agrees unless agreed is set. It returns the record
// of the conversation.
func (s Shelf) Remove(
	ctx context.Context, e workspace.Entry, agreed bool,
) (r listing.Record, err error) {
	d, err := s.Workspace.LoadDetails(e)
	if err != nil {
		d = &events.Details{}
	}
	r = listing.NewRecord(e, d)
	loss, cost := s.lossOf(ctx, e), ""
	if loss != "" {
		cost = " " + string(loss) + "."
	}
	what := fmt.Sprintf("delete %s %q", e.ID, r.Title)
	if !agreed && !s.Terminal.Confirm(what+"?"+cost) {
		return r, &ask.UnconfirmedError{
			What: what, Cost: string(loss), Asked: s.Terminal.In != nil,
		}
	}
	note := ""
	err = s.Workspace.Remove(ctx, e.ID, func() (err error) {
		note, err = importer.Bury(s.Workspace, e.ID, d)
		return err
	})
	if err == nil {
		err = s.stageRemoval(ctx, e, note)
	}
	if err != nil {
		return r, err
	}
	s.Terminal.Note("deleted %s %q", e.ID, r.Title)
	return r, nil
}

// lossOf says what of a conversation cannot be restored.
func (s Shelf) lossOf(ctx context.Context, e workspace.Entry) stage.Loss {
	repo, err := s.Repo(ctx)
	if err != nil || e.Local {
		repo = nil
	}
	return stage.LossOf(ctx, repo, s.Workspace.Path(e))
}

// stageRemoval stages the note that an imported conversation was removed with the removal. A commit
// with only one of the two would have a conversation that no import extends, or one that the next
// import creates again.
func (s Shelf) stageRemoval(ctx context.Context, e workspace.Entry, note string) error {
	if note == "" || e.Local {
		return nil
	}
	repo, err := s.Repo(ctx)
	if errors.Is(err, gitint.ErrNotRepository) {
		return nil
	}
	if err != nil {
		return err
	}
	dir, err := s.Dir(s.Workspace, repo)
	if err != nil {
		return err
	}
	index, err := repo.Index(ctx)
	if err != nil {
		return err
	}
	change := gitint.Change{Add: []string{path.Join(dir, note)}, LockTimeout: s.LockWait}
	at := path.Join(path.Dir(dir), e.Path)
	entries, err := index.Entries(at)
	for _, file := range entries {
		change.Remove = append(change.Remove, file.Path)
	}
	if err == nil {
		_, err = repo.Stage(ctx, change)
	}
	return err
}
