package workspace

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/lists"
)

// Archive moves a conversation to the archive, together with its user-local copy. It first sets the
// time in metadata.json, unless git has the conversation: with unchanged files git recognizes every
// file as renamed, even if another branch changes them, and all readers go by the directory. If the
// move fails, the time is removed again. If the conversation is archived already, Archive moves its
// live copy. A [*DuplicateError] reports that several directories match.
func (w *Workspace) Archive(ctx context.Context, id events.ID) (Entry, error) {
	var moved Entry
	err := w.locked(ctx, "archive", id, func(e Entry, others []Entry) error {
		err := unique(e, others)
		dated := err == nil && e.Partition == Live && !w.env.committed(e)
		now := w.env.Now()
		at := &now
		exchange := func(d *events.Details) error {
			d.ArchivedAt, at = at, d.ArchivedAt
			return nil
		}
		if dated {
			e, err = w.updateDetails(e, exchange)
		}
		if err != nil {
			return err
		}
		moved, err = w.moveAll(e, Archive)
		if err != nil && dated && moved.Partition == Live {
			_, failed := w.updateDetails(e, exchange) // it is not archived
			err = errors.Join(err, failed)
		}
		return err
	})
	return moved, err
}

// Unarchive is the reverse of [Workspace.Archive]. The time of a conversation that git has is kept
// for the same reason.
func (w *Workspace) Unarchive(ctx context.Context, id events.ID) (Entry, error) {
	var moved Entry
	err := w.locked(ctx, "unarchive", id, func(e Entry, others []Entry) error {
		if err := unique(e, others); err != nil {
			return err
		}
		committed := w.env.committed(e)
		e, err := w.moveAll(e, Live)
		if moved = e; err != nil || committed {
			return err
		}
		moved, err = w.updateDetails(e, func(d *events.Details) error {
			d.ArchivedAt = nil
			return nil
		})
		return err
	})
	return moved, err
}

// Remove deletes a conversation with its user-local copy, from which jp would restore it. Contents
// stay; the collector finds them. The caller checks first whether this is the last copy, see
// [Workspace.Copies]. What note writes is there before anything is deleted, and says what is
// known of a conversation that a crash leaves half removed; it may be nil.
func (w *Workspace) Remove(ctx context.Context, id events.ID, note func() error) error {
	return w.locked(ctx, "remove", id, func(e Entry, others []Entry) error {
		if err := unique(e, others); err != nil {
			return err
		}
		if note != nil {
			if err := note(); err != nil {
				return err
			}
		}
		local, err := w.userCopies(e)
		if err != nil {
			return err
		}
		// The workspace's copy is removed last: until then the conversation is complete.
		for _, c := range append(local, e) {
			if err := w.storeOf(c).remove(c); err != nil {
				return err
			}
		}
		return nil
	})
}

func unique(e Entry, others []Entry) error {
	if len(others) == 0 {
		return nil
	}
	all := append([]Entry{e}, others...)
	paths := lists.Map(all, func(e Entry) string { return e.Path })
	return &DuplicateError{ID: e.ID, Paths: paths}
}

// userCopies returns the directories of e in user-local storage, none if e is one.
func (w *Workspace) userCopies(e Entry) ([]Entry, error) {
	if e.Local || w.userLocal == nil {
		return nil, nil
	}
	return w.userLocal.find(e.ID)
}

// moveAll moves e and its user-local copies to a partition.
func (w *Workspace) moveAll(e Entry, to Partition) (Entry, error) {
	local, err := w.userCopies(e)
	if err != nil {
		return e, err
	}
	if e, err = w.storeOf(e).move(e, to); err != nil {
		return e, err
	}
	for _, c := range local {
		if _, err := w.userLocal.move(c, to); err != nil {
			return e, fmt.Errorf("move user-local copy: %w", err)
		}
	}
	return e, nil
}

func (s *store) move(e Entry, p Partition) (Entry, error) {
	if e.Partition == p {
		return e, nil
	}
	to := e.at(p, e.Dirname, s.prefix)
	if err := s.rename(s.path(e), s.path(to)); err != nil {
		return e, err
	}
	return to, nil
}

const stepRemove atomicfile.Step = "remove"

// remove moves e's directory to a temporary one in one step and then deletes it. The collector
// sweeps what a crash leaves.
func (s *store) remove(e Entry) error {
	holder, err := atomicfile.MkdirTemp(s.root, e.Dirname, s.options())
	if err != nil {
		return err
	}
	if err := s.rename(s.path(e), path.Join(holder, e.Dirname)); err != nil {
		_ = s.root.Remove(holder) // it is empty
		return err
	}
	if err := s.step(stepRemove, holder); err != nil {
		return err
	}
	return s.root.RemoveAll(holder)
}
