package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/regular"
)

// A Hold is a conversation that is locked for longer than one change, such as while a model
// answers: no process that takes the lock changes it meanwhile. It is for one goroutine.
type Hold struct {
	workspace *Workspace
	current   *Conversation
	// seen has the stat results of current's files after they were last read or written. Nil means
	// that they must be loaded again.
	seen   []fs.FileInfo
	spare  atomicfile.Spare // of the stream that was loaded
	unlock func() error
}

// Hold locks a conversation, as [Workspace.Lock] does, and loads it. The caller must [Hold.Release]
// it, and save through [Hold.Update] only: the lock excludes [Workspace.Update] too.
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
	h.spare.Remove()
	e, _, err := h.workspace.locate(id)
	if err != nil {
		return err
	}
	seen := h.workspace.storeOf(e).look(e) // before they are read
	c, err := h.workspace.Load(e)
	if err != nil {
		return err
	}
	if c.Legacy {
		return fmt.Errorf("hold conversation %s: %w", id, ErrLegacy)
	}
	c.spare = &h.spare
	h.current, h.seen = c, seen
	return nil
}

// Conversation returns the conversation as last loaded or saved. It must not be changed.
func (h *Hold) Conversation() *Conversation { return h.current }

// ErrAway is what a change returns to [Hold.Update] if the files are older than what was saved: it
// is called again for about two seconds, in which they may come back.
var ErrAway = errors.New("an older version of the conversation is in its place")

// A LostError says that the conversation of a hold cannot be loaded any more: another program has
// removed or damaged it.
type LostError struct{ Err error }

// Error implements error.
func (e *LostError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *LostError) Unwrap() error { return e.Err }

// passing is an error that may pass. A git merge that fails resets the working tree and applies
// the changes again that it had before; if one of the files was written in between, it applies
// none, of no file.
type passing struct{ error }

// Is makes settled try again.
func (passing) Is(target error) bool { return target == atomicfile.ErrChanged }

// Unwrap implements the interface of the package errors.
func (p passing) Unwrap() error { return p.error }

// Update changes the conversation as [Workspace.Update] does. It loads it again only if the files
// have changed: programs that do not take the lock, such as git checkout, may have written them,
// and their changes are not overwritten. Files that are gone may come back, as for [ErrAway]; the
// error for those that do not is a *[LostError].
func (h *Hold) Update(f func(*Conversation) error) error {
	id := h.current.ID
	err := settled(context.Background(), func() error { return h.update(id, f) })
	if p, ok := errors.AsType[passing](err); ok {
		err = p.error // it did not pass
	}
	if err != nil {
		return fmt.Errorf("update conversation %s: %w", id, err)
	}
	return nil
}

func (h *Hold) update(id events.ID, f func(*Conversation) error) error {
	if !h.unchanged() {
		err := h.load(id)
		switch {
		case err == nil:
		case isHalf(err):
			return errors.Join(&LostError{err}, atomicfile.ErrChanged)
		case errors.As(err, new(*NotFoundError)), errors.Is(err, fs.ErrNotExist):
			return passing{&LostError{err}}
		default:
			return &LostError{err}
		}
	}
	next := *h.current
	next.Details, next.Stream = next.Details.Clone(), next.Stream.Clone()
	if err := f(&next); errors.Is(err, ErrAway) {
		return passing{err}
	} else if err != nil {
		return err
	}
	if err := h.workspace.save(&next); err != nil {
		if errors.Is(err, atomicfile.ErrChanged) {
			h.seen = nil // size and time may be equal by chance
		}
		return err
	}
	// The next replacement detects a change between this save and look.
	h.current, h.seen = &next, h.workspace.storeOf(next.Entry).look(next.Entry)
	return nil
}

// Fork goes on with a fork of the conversation as it was last saved, changed by f, for one that was
// lost: whatever comes back in its place is another program's.
func (h *Hold) Fork(f func(*Conversation) error) error {
	fork := *h.current
	fork.Stream = fork.Stream.Clone()
	err := f(&fork)
	if err == nil {
		fork.Details, err = ForkDetails(&fork, events.ForkOptions{}, h.workspace.env.Now())
	}
	if err != nil {
		return err
	}
	ctx := context.Background()
	e, err := h.workspace.Create(ctx, &NewConversation{
		Details: fork.Details, Stream: fork.Stream, BaseConfig: fork.BaseConfig,
		Local: fork.Local, AllowDangling: true,
	})
	if err != nil {
		return err
	}
	unlock, err := h.workspace.Lock(ctx, e.ID)
	if err != nil {
		return err
	}
	_ = h.unlock() // may have been removed, too
	h.unlock = unlock
	return h.load(e.ID)
}

// unchanged reports whether size, time and inode of the files are those seen last. That saves
// reading them; before a file is replaced its bytes are compared.
func (h *Hold) unchanged() bool {
	now := h.workspace.storeOf(h.current.Entry).look(h.current.Entry)
	return h.seen != nil && slices.EqualFunc(h.seen, now, isSame)
}

func isSame(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// look returns the stat results of a conversation's own files, nil for each that fails, and nil for
// all if their directory cannot be opened.
func (s *store) look(e Entry) []fs.FileInfo {
	dir, err := regular.OpenRootIn(s.root, s.path(e)) // saves resolving the path of each file
	if err != nil {
		return nil
	}
	defer dir.Close() //nolint:errcheck // was only read
	seen := make([]fs.FileInfo, 0, 3)
	for _, f := range (&stored{}).files() {
		info, err := dir.Lstat(f.name)
		if err != nil {
			info = nil
		}
		seen = append(seen, info)
	}
	return seen
}

// Release releases the lock.
func (h *Hold) Release() error {
	h.spare.Remove()
	return h.unlock()
}
