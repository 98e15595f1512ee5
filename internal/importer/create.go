package importer

import (
	"context"
	"errors"
	"io/fs"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/workspace"
)

// create creates a conversation of the session.
func (j *job) create(ctx context.Context, c *sessions.Conversation) (events.ID, error) {
	n, err := j.newConversation(c)
	n.Local = n.Local || j.origin != nil && j.origin.Local // as its origin is
	if err != nil || j.Dry {
		return n.ID, err
	}
	store := j.Workspace.BlobsOf(workspace.Entry{Local: n.Local})
	if err := j.supply(n.Stream, store); err != nil {
		return n.ID, err
	}
	e, err := j.Workspace.Create(ctx, n)
	switch {
	case errors.Is(err, fs.ErrExist):
		return n.ID, errors.Join(err, j.known.refresh(j.Workspace, n.ID))
	case err != nil:
		return n.ID, err
	}
	return n.ID, j.created(e)
}

// newConversation returns the conversation to create.
func (im *Importer) newConversation(c *sessions.Conversation) (*workspace.NewConversation, error) {
	id, err := im.free(c.Name)
	return &workspace.NewConversation{
		ID: id, Details: c.Details, Stream: c.Stream, BaseConfig: c.BaseConfig,
		Archived: true, Local: im.Hold,
	}, err
}

// created records a conversation that was created.
func (im *Importer) created(e workspace.Entry) error {
	im.known.add(e)
	if im.Again {
		return im.Workspace.RemoveFile(workspace.RemovedPath(e.ID))
	}
	return nil
}

// maxCreated limits how many conversations are created together: each needs a lock, which is an
// open file, and sessions are read meanwhile. A process may have as few as 256 open files.
const maxCreated = 128

// createAll creates the conversations of sessions that are completely new, as many together as
// maxCreated allows. Some are locked until settle is called, which makes all of them durable.
func (im *Importer) createAll(ctx context.Context, jobs []*job) (settle func() error) {
	var next []*job
	var errs []error
	last := func() error { return nil }
	count := 0
	for _, j := range jobs {
		if j == nil || j.err != nil || j.kept != nil || j.origin != nil || im.Dry ||
			len(j.all) > maxCreated {
			continue
		}
		if count += len(j.all); count > maxCreated {
			errs = append(errs, last())
			last = im.createTogether(ctx, next)
			next, count = nil, len(j.all)
		}
		next = append(next, j)
	}
	errs = append(errs, last())
	last = im.createTogether(ctx, next)
	return func() error { return errors.Join(append(errs, last())...) }
}

// createTogether creates the conversations of sessions that are completely new, which needs only a
// few waits for the disk. If that fails, maybe because of another process, they are left to be
// saved one by one.
func (im *Importer) createTogether(ctx context.Context, jobs []*job) (settle func() error) {
	var families [][]*workspace.NewConversation
	var of []*job
	for _, j := range jobs {
		if family := j.family(); family != nil {
			families, of = append(families, family), append(of, j)
		}
	}
	if len(families) < minJoint {
		return func() error { return nil }
	}
	entries, errs, settle := im.Workspace.CreateAll(ctx, families)
	for i, j := range of {
		if errs[i] != nil {
			continue
		}
		j.made = make([]Made, len(j.all))
		for n, c := range j.all {
			e := entries[i][n]
			j.made[n] = Made{ID: e.ID, Name: c.Name, Title: c.Details.Name(), State: New}
			j.saving = errors.Join(j.saving, im.created(e))
		}
	}
	return settle
}

// family returns the conversations of the session if all are new, else nil.
func (j *job) family() []*workspace.NewConversation {
	family := make([]*workspace.NewConversation, len(j.all))
	for i, c := range j.all {
		_, _, err := j.find(c.Name)
		if !errors.Is(err, fs.ErrNotExist) || j.isRemoved(c.Name) {
			return nil
		}
		if family[i], err = j.newConversation(c); err != nil {
			return nil
		}
	}
	return family
}
