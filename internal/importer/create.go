package importer

import (
	"context"
	"errors"
	"io/fs"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A creation creates conversations that do not exist yet.
type creation struct{ *Importer }

// one creates a conversation.
func (cr creation) one(
	ctx context.Context, c *sessions.Conversation, p *prepared,
) (events.ID, error) {
	n, err := cr.of(c)
	n.Local = n.Local || p.isLocal()
	if err != nil || cr.Dry {
		return n.ID, err
	}
	store := cr.Workspace.BlobsOf(workspace.Entry{Local: n.Local})
	if err := p.supply(n.Stream, store); err != nil {
		return n.ID, err
	}
	e, err := cr.Workspace.Create(ctx, n)
	switch {
	case errors.Is(err, fs.ErrExist):
		return n.ID, errors.Join(err, cr.known.refresh(cr.Workspace, n.ID))
	case err != nil:
		return n.ID, err
	}
	return n.ID, cr.note(e)
}

// of returns the conversation to create.
func (cr creation) of(
	c *sessions.Conversation,
) (*workspace.NewConversation, error) {
	id, err := cr.free(c.Name)
	return &workspace.NewConversation{
		ID: id, Details: c.Details, Stream: c.Stream, BaseConfig: c.BaseConfig,
		Archived: true, Local: cr.Hold,
	}, err
}

// note records a conversation that was created.
func (cr creation) note(e workspace.Entry) error {
	cr.known.add(e)
	if cr.Again {
		return cr.Workspace.RemoveFile(workspace.RemovedPath(e.ID))
	}
	return nil
}

// maxCreated limits how many conversations are created together: each needs a lock, which is an
// open file, and sessions are read meanwhile. A process may have as few as 256 open files.
const maxCreated = 128

// all creates the conversations of sessions that are completely new, as many together as
// maxCreated allows. Some are locked until settle is called, which makes all of them durable.
func (cr creation) all(ctx context.Context, parts []*prepared) (settle func() error) {
	var next []*prepared
	var errs []error
	last := func() error { return nil }
	count := 0
	for _, p := range parts {
		if p == nil || p.err != nil || p.kept != nil || p.origin != nil || cr.Dry ||
			len(p.all) > maxCreated {
			continue
		}
		if count += len(p.all); count > maxCreated {
			errs = append(errs, last())
			last = cr.together(ctx, next)
			next, count = nil, len(p.all)
		}
		next = append(next, p)
	}
	errs = append(errs, last())
	last = cr.together(ctx, next)
	return func() error { return errors.Join(append(errs, last())...) }
}

// together creates the conversations of sessions that are completely new, which needs only a few
// waits for the disk. If that fails, maybe because of another process, they are left to be saved
// one by one.
func (cr creation) together(ctx context.Context, parts []*prepared) (settle func() error) {
	var families [][]*workspace.NewConversation
	var of []*prepared
	for _, p := range parts {
		if family := cr.family(p.all); family != nil {
			families, of = append(families, family), append(of, p)
		}
	}
	if len(families) < minJoint {
		return func() error { return nil }
	}
	entries, errs, settle := cr.Workspace.CreateAll(ctx, families)
	for i, p := range of {
		if errs[i] != nil {
			continue
		}
		made := make([]Made, len(p.all))
		for j, c := range p.all {
			e := entries[i][j]
			made[j] = Made{ID: e.ID, Name: c.Name, Title: title(c.Details), State: New}
			p.saving = errors.Join(p.saving, cr.note(e))
		}
		p.made = made
	}
	return settle
}

// family returns the conversations of a session if all are new, else nil.
func (cr creation) family(all []*sessions.Conversation) []*workspace.NewConversation {
	family := make([]*workspace.NewConversation, len(all))
	for i, c := range all {
		_, _, err := cr.find(c.Name)
		if !errors.Is(err, fs.ErrNotExist) || !cr.Again && removed(cr.Workspace, c.Name) {
			return nil
		}
		if family[i], err = cr.of(c); err != nil {
			return nil
		}
	}
	return family
}
