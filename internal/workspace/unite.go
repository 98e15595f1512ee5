package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"

	"github.com/git-jp/git-jp/internal/regular"
)

// A Union says what becomes of the directories that share an id.
type Union struct {
	// Keep is the index of the one that stays.
	Keep int
	// Quarantine is called for each other one, which is still in its place, before it is removed:
	// whoever gives it has kept its files elsewhere when it returns. The names are those of
	// [Conversation.Files].
	Quarantine func(c *Conversation, read func(name string) ([]byte, error)) error
}

// Unite makes one directory of several that share an id. f is given all of them, loaded under
// the lock, live before archived. It changes the one that is to stay as a function given to
// [Workspace.Update] may, and says which it is. That one is saved and gets the name of its
// title; the files of others, beside those of every conversation, are taken over, as name~<hash>
// where the name is taken; and then the others are removed, one after the other.
//
// After a crash the one that stays is old, new, or has files of both, and every other one is
// there or whole in the place where Quarantine put it. Uniting again ends it. Where there
// is one directory only, f is not called.
func (w *Workspace) Unite(
	ctx context.Context, id events.ID, f func(all []*Conversation) (Union, error),
) (Entry, error) {
	var kept Entry
	err := w.locked(ctx, "unite", id, func(e Entry, others []Entry) error {
		kept = e
		if len(others) == 0 {
			return nil
		}
		var all []*Conversation
		for _, e := range append([]Entry{e}, others...) {
			c, err := w.Load(e)
			if err != nil {
				return err
			}
			if c.Legacy {
				return ErrLegacy
			}
			all = append(all, c)
		}
		u, err := f(all)
		if err != nil {
			return err
		}
		kept, err = w.unite(all, u)
		return err
	})
	return kept, err
}

func (w *Workspace) unite(all []*Conversation, u Union) (Entry, error) {
	keep := all[u.Keep]
	others := slices.Delete(slices.Clone(all), u.Keep, u.Keep+1)
	s := w.storeOf(keep.Entry)
	for _, c := range others {
		if err := s.onlyFiles(c.Entry); err != nil {
			return keep.Entry, err
		}
	}
	if err := w.save(keep); err != nil {
		return keep.Entry, err
	}
	var err error
	// The directory may have an older name than its title, when nothing was changed.
	if keep.Entry, err = w.retitle(keep.Entry, keep.Title()); err != nil {
		return keep.Entry, err
	}
	for _, c := range others {
		if err := s.takeOver(keep, c); err != nil {
			return keep.Entry, err
		}
		read := func(name string) ([]byte, error) {
			return s.read(s.path(c.Entry, name))
		}
		if err := u.Quarantine(c, read); err != nil {
			return keep.Entry, fmt.Errorf("quarantine %s: %w", c.Path, err)
		}
		if err := s.remove(c.Entry); err != nil {
			return keep.Entry, err
		}
	}
	// Only now its name may be free.
	if keep.Entry, err = w.retitle(keep.Entry, keep.Title()); err != nil {
		return keep.Entry, err
	}
	return keep.Entry, w.follow(keep.Entry)
}

// follow moves the user-local copies of e to its partition: jp would bring back the other.
func (w *Workspace) follow(e Entry) error {
	local, err := w.userCopies(e)
	for _, c := range local {
		if err == nil {
			_, err = w.userLocal.move(c, e.Partition)
		}
	}
	return err
}

// takeOver copies the files that are no conversation's own. Of two that have one name and are
// not the same both are kept. It returns only when keep has them all.
func (s *store) takeOver(keep, from *Conversation) error {
	for _, name := range from.Files {
		if managed(name) {
			continue
		}
		data, err := s.read(s.path(from.Entry, name))
		if err == nil {
			err = s.keepBeside(keep.Entry, name, data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keepBeside writes a file unless it is there. Where something else has its name it gets that
// of its content too.
func (s *store) keepBeside(e Entry, name string, data []byte) error {
	for _, name := range []string{name, name + "~" + blobs.Sum(data).String()[:12]} {
		at := s.path(e, name)
		switch now, err := s.read(at); {
		case errors.Is(err, fs.ErrNotExist):
			return s.replace(e, file{name: name, rest: data})
		case err == nil && bytes.Equal(now, data):
			return nil
		case err != nil && !errors.Is(err, regular.ErrNot):
			return err
		}
	}
	return fmt.Errorf("keep %s: %w", name, errTaken)
}

// onlyFiles refuses a directory with links and the like in it, which nobody would take over.
func (s *store) onlyFiles(e Entry) error {
	return fs.WalkDir(s.fsys, s.path(e), func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !d.Type().IsRegular() {
			err = notRegular("take over", name)
		}
		return err
	})
}
