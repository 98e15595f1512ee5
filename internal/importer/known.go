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

// known caches one listing of conversations for many sessions: with thousands of them, a listing
// for each would be most of the work. Changes by other processes are detected where they matter:
// creating an existing conversation fails, and one that was moved is searched again.
type known struct {
	mu      sync.Mutex
	entries map[events.ID][]workspace.Entry // nil before the listing
	origins map[sessions.Name]events.ID     // the conversations that sessions were exported from
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

// add records a conversation that was created.
func (k *known) add(e workspace.Entry) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.entries[e.ID] = append(k.entries[e.ID], e)
}

// refresh searches one conversation again.
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

// originate records the conversation that a session was exported from.
func (k *known) originate(n sessions.Name, id events.ID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.origins == nil {
		k.origins = map[sessions.Name]events.ID{}
	}
	k.origins[n] = id
}

// origin returns the conversation that a session was exported from.
func (k *known) origin(n sessions.Name) (id events.ID, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	id, ok = k.origins[n]
	return id, ok
}

// A wanted conversation has one of some ids, and is accepted by a function.
type wanted struct {
	ids []events.ID
	is  func(*events.Details) bool
}

// ofSession describes the conversation of a session.
func ofSession(n sessions.Name) wanted {
	ids := n.IDs()
	return wanted{ids[:], func(d *events.Details) bool {
		return d.Labels[sessions.LabelSession] == n.String()
	}}
}

// find returns the conversation of a session.
func (im *Importer) find(n sessions.Name) (workspace.Entry, *events.Details, error) {
	return im.findAny(ofSession(n))
}

func (im *Importer) findAny(want wanted) (workspace.Entry, *events.Details, error) {
	e, d, err := im.lookUp(want)
	if err == nil || errors.Is(err, errUnknown) {
		return e, d, err
	}
	for _, id := range want.ids { // it may have been moved
		if err := im.known.refresh(im.Workspace, id); err != nil {
			return e, nil, err
		}
	}
	return im.lookUp(want)
}

// errUnknown reports a session without a conversation here.
var errUnknown = fmt.Errorf("it is not imported: %w", fs.ErrNotExist)

func (im *Importer) lookUp(want wanted) (workspace.Entry, *events.Details, error) {
	for _, id := range want.ids {
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
			if want.is(d) {
				return e, d, nil
			}
		}
	}
	return workspace.Entry{}, nil, errUnknown
}

// free returns the id for a new conversation of a session.
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
	return 0, fmt.Errorf("both ids of session %s are used by other conversations", n)
}
