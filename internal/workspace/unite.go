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

// A Union says what to do with the directories that share an id.
type Union struct {
	// Keep is the index of the directory that is kept.
	Keep int
	// Quarantine is called for each other one before it is removed: when it returns, it must have
	// saved the files elsewhere. The names are those of [Conversation.Files].
	Quarantine func(c *Conversation, read func(name string) ([]byte, error)) error
}

// Unite merges several directories that share an id into one. It calls f with all of them, loaded
// under the lock, live before archived. f changes the one to keep, as a function given to
// [Workspace.Update] may, and says which it is. Unite saves that one and names it after its title;
// it adds the other directories' further files, as name~<hash> if the name is taken; then it
// removes the other directories, one after the other.
//
// After a crash the kept directory is old, new, or has files of both, and every other one is in its
// place or complete in the quarantine. Uniting again completes it. If there is only one directory,
// f is not called.
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

// TakeOver moves the files of another directory of a conversation, which has none of the three of a
// conversation itself, into the one that loads, by the rules of [Workspace.Unite].
func (w *Workspace) TakeOver(ctx context.Context, rest Entry) error {
	return w.locked(ctx, "complete", rest.ID, func(e Entry, _ []Entry) error {
		s := w.storeOf(e)
		if err := s.onlyFiles(rest); err != nil {
			return err
		}
		names, err := files(s.fsys, s.path(rest))
		if err != nil {
			return err
		}
		if slices.ContainsFunc(names, IsManaged) {
			return fmt.Errorf("take over %s: it has files of a conversation", rest.Path)
		}
		from := &Conversation{Entry: rest, Files: names}
		if err := s.takeOver(&Conversation{Entry: e}, from); err != nil {
			return err
		}
		return s.remove(rest)
	})
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
	// The name of the directory may be outdated even if nothing changed.
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

// follow moves the user-local copies of e to its partition: jp would restore the conversation from
// the other one.
func (w *Workspace) follow(e Entry) error {
	local, err := w.userCopies(e)
	for _, c := range local {
		if err == nil {
			_, err = w.userLocal.move(c, e.Partition)
		}
	}
	return err
}

// takeOver copies the files that are not a conversation's own. If two files with one name differ,
// both are kept. It returns only when keep has them all.
func (s *store) takeOver(keep, from *Conversation) error {
	for _, name := range from.Files {
		if IsManaged(name) {
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

// keepBeside writes a file unless it exists. If the name is taken by other content, a hash is added
// to the name, a longer one if someone edited the file of that name.
func (s *store) keepBeside(e Entry, name string, data []byte) error {
	hashed := name + "~" + blobs.Sum(data).String()
	for _, name := range []string{name, hashed[:len(name)+1+12], hashed} {
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

// onlyFiles refuses a directory with symlinks or other special files, which cannot be copied.
func (s *store) onlyFiles(e Entry) error {
	return fs.WalkDir(s.fsys, s.path(e), func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !d.Type().IsRegular() {
			err = notRegular("take over", name)
		}
		return err
	})
}
