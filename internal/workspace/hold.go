package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/regular"
)

// A Hold is a conversation that is locked for longer than one change, as while a model
// answers: nobody else who asks for the lock changes it in between. It is for one
// goroutine.
type Hold struct {
	workspace *Workspace
	current   *Conversation
	unlock    func() error
}

// Hold takes the lock of a conversation, as [Workspace.Lock] does, and loads it. Whoever
// has the hold must [Hold.Release] it, and saves through [Hold.Update] only: the lock
// keeps [Workspace.Update] out too.
func (w *Workspace) Hold(ctx context.Context, id events.ID) (_ *Hold, err error) {
	unlock, err := w.Lock(ctx, id)
	if err != nil {
		return nil, err
	}
	h := &Hold{workspace: w, unlock: unlock}
	if err := h.load(id); err != nil {
		return nil, errors.Join(err, unlock())
	}
	return h, nil
}

func (h *Hold) load(id events.ID) error {
	e, others, err := h.workspace.locate(id)
	if err != nil {
		return err
	}
	c, err := h.workspace.Load(e)
	if err != nil {
		return err
	}
	if c.Legacy {
		return fmt.Errorf("hold conversation %s: %w", id, ErrLegacy)
	}
	c.Others = others
	h.current = c
	return nil
}

// Conversation returns the conversation as it was loaded or saved last. It must not be
// changed.
func (h *Hold) Conversation() *Conversation { return h.current }

// Update changes the conversation as [Workspace.Update] does. It loads it again only
// when the files are not what they were: programs that do not ask for the lock, such as
// git checkout, may have changed them, and what they wrote is not overwritten.
func (h *Hold) Update(f func(*Conversation) error) error {
	id := h.current.ID
	if !h.unchanged() {
		if err := h.load(id); err != nil {
			return fmt.Errorf("update conversation %s: %w", id, err)
		}
	}
	next := *h.current
	next.Details, next.Stream = next.Details.Clone(), next.Stream.Clone()
	if err := f(&next); err != nil {
		return fmt.Errorf("update conversation %s: %w", id, err)
	}
	if err := h.workspace.save(&next); err != nil {
		return fmt.Errorf("update conversation %s: %w", id, err)
	}
	h.current = &next
	return nil
}

// unchanged reports whether the files are those that were loaded or saved last.
func (h *Hold) unchanged() bool {
	c := h.current
	s := h.workspace.storeOf(c.Entry)
	dir, err := s.root.OpenRoot(s.path(c.Entry)) // not each file is walked to
	if err != nil {
		return false
	}
	defer dir.Close() //nolint:errcheck // was only read
	for _, f := range c.stored.files() {
		same, err := holds(regular.In(dir), f.name, f.data)
		if f.data == nil && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || !same {
			return false
		}
	}
	return true
}

// holds reports whether a file has exactly the given bytes. Its time and size would not
// tell: another program can write as fast as the file system's clock ticks.
func holds(fsys fs.FS, name string, want []byte) (same bool, err error) {
	info, err := fs.Lstat(fsys, name)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(want)) {
		return false, err
	}
	f, err := fsys.Open(name)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	piece := make([]byte, min(len(want)+1, 128<<10))
	for {
		n, err := f.Read(piece)
		if n > len(want) || !bytes.Equal(piece[:n], want[:n]) {
			return false, nil
		}
		want = want[n:]
		if errors.Is(err, io.EOF) {
			return len(want) == 0, nil
		}
		if err != nil {
			return false, err
		}
	}
}

// Release gives the lock back.
func (h *Hold) Release() error { return h.unlock() }
