package importer

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/workspace"
)

// known is where conversations are, as of one listing for many sessions: with thousands there, a
// listing for each would be most of the work. What others do meanwhile is found out where it
// counts: creating a conversation that somebody else created fails, and what is not where it was
// is looked for again.
type known struct {
	mu      sync.Mutex
	entries map[events.ID][]workspace.Entry // nil before the listing
}

// copies returns the directories of a conversation.
func (k *known) copies(w *workspace.Workspace, id events.ID) ([]workspace.Entry, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.entries == nil {
		all, err := w.AllCopies()
		if err != nil {
			return nil, err
		}
		k.entries = all
	}
	return k.entries[id], nil
}

// add notes a conversation that was made.
func (k *known) add(e workspace.Entry) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.entries[e.ID] = append(k.entries[e.ID], e)
}

// refresh looks for one conversation again.
func (k *known) refresh(w *workspace.Workspace, id events.ID) error {
	all, err := w.Copies(id)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.entries != nil {
		k.entries[id] = all
	}
	return nil
}

// find returns the conversation of a session.
func (im *Importer) find(n sessions.Name) (workspace.Entry, *events.Details, error) {
	e, d, err := im.lookUp(n)
	if err == nil || errors.Is(err, errUnknown) {
		return e, d, err
	}
	for _, id := range n.IDs() { // it was moved, perhaps
		if err := im.known.refresh(im.Workspace, id); err != nil {
			return e, nil, err
		}
	}
	return im.lookUp(n)
}

// errUnknown is for a session that has no conversation here.
var errUnknown = fmt.Errorf("it is not imported: %w", fs.ErrNotExist)

func (im *Importer) lookUp(n sessions.Name) (workspace.Entry, *events.Details, error) {
	for _, id := range n.IDs() {
		copies, err := im.known.copies(im.Workspace, id)
		if err == nil && len(copies) == 0 {
			err = im.Workspace.LeftOut(id)
		}
		if err != nil {
			return workspace.Entry{}, nil, err
		}
		for _, e := range copies {
			d, err := im.Workspace.LoadDetails(e)
			if err != nil {
				return e, nil, err
			}
			if d.Labels[sessions.LabelSession] == n.String() {
				return e, d, nil
			}
		}
	}
	return workspace.Entry{}, nil, errUnknown
}

// free returns the id that a new conversation of a session gets.
func (im *Importer) free(n sessions.Name) (events.ID, error) {
	for _, id := range n.IDs() {
		copies, err := im.known.copies(im.Workspace, id)
		if err != nil {
			return 0, err
		}
		if len(copies) == 0 {
			return id, nil
		}
	}
	return 0, fmt.Errorf("both ids of session %s are taken by others", n)
}

// reachable returns why one of the conversations of a session cannot be saved where the checkout
// leaves it out, before any content of theirs is written.
func (im *Importer) reachable(all []*sessions.Conversation) error {
	for _, c := range all {
		_, _, err := im.lookUp(c.Name)
		if left, ok := errors.AsType[*workspace.LeftOutError](err); ok {
			return left
		}
	}
	return nil
}
