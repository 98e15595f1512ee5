package importer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/envelope"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Receive creates the conversations of envelopes unchanged, all or none. An id that already has
// another conversation here is [ErrTaken]; the same one stays, so that an import that was killed
// can be repeated. A user-local conversation becomes one of this user.
func (im *Importer) Receive(ctx context.Context, all []*envelope.Envelope) ([]Made, error) {
	made := make([]Made, len(all))
	for i, e := range all {
		state, err := im.welcome(e)
		if err != nil {
			return nil, fmt.Errorf("conversation %s: %w", e.ID, err)
		}
		made[i] = Made{ID: e.ID, Title: e.Details.Name(), State: state}
	}
	if im.Dry {
		return made, nil
	}
	for i, e := range all {
		if made[i].State != New {
			continue
		}
		if err := im.receive(ctx, e); err != nil {
			return nil, errors.Join(fmt.Errorf("conversation %s: %w", e.ID, err),
				undo(ctx, im.Workspace, made[:i]))
		}
	}
	if !im.Again {
		return made, nil
	}
	if err := revive(im.Workspace, all); err != nil {
		return nil, errors.Join(err, undo(ctx, im.Workspace, made))
	}
	return made, nil
}

// revive forgets that conversations were removed. That is the last step: if one before it fails,
// they are still removed. A conversation that was here already may be from an import that was
// killed before this step.
func revive(w *workspace.Workspace, all []*envelope.Envelope) error {
	for _, e := range all {
		if err := w.RemoveFile(workspace.RemovedPath(e.ID)); err != nil {
			return err
		}
	}
	return nil
}

// welcome returns what an envelope will be here, or an error if it is refused.
func (im *Importer) welcome(e *envelope.Envelope) (State, error) {
	copies, err := im.Workspace.Copies(e.ID)
	n, _ := sessions.ParseName(e.Details.Labels[sessions.LabelSession])
	switch {
	case err != nil:
		return "", err
	case len(copies) > 0 && im.same(e, copies):
		return Unchanged, nil
	case len(copies) > 0:
		return "", ErrTaken
	case im.isRemoved(n):
		return "", ErrRemoved
	}
	return New, im.Workspace.LeftOut(e.ID)
}

// same reports whether the conversation here is what receive would make of an envelope.
func (im *Importer) same(e *envelope.Envelope, copies []workspace.Entry) bool {
	here := copies[0]
	archived := here.Partition == workspace.Archive
	if len(copies) > 1 || here.Local != (e.Local || im.Hold) || archived != e.Archived {
		return false
	}
	c, err := im.Workspace.Load(here)
	if err != nil {
		return false
	}
	batch := im.Workspace.BlobsOf(here).NewBatch()
	defer batch.Discard()
	base := func(data []byte) string { return cmp.Or(string(data), "{}\n") }
	return im.place(e, batch) == nil && base(c.BaseConfig) == base(e.BaseConfig) &&
		bytes.Equal(c.Details.Encode(), e.Details.Encode()) &&
		bytes.Equal(c.Stream.Encode(), e.Stream.Encode())
}

// undo removes conversations that were created.
func undo(ctx context.Context, w *workspace.Workspace, made []Made) error {
	var all []error
	for _, m := range slices.Backward(made) {
		if m.State == New {
			all = append(all, w.Remove(context.WithoutCancel(ctx), m.ID, nil))
		}
	}
	return errors.Join(all...)
}

func (im *Importer) receive(ctx context.Context, e *envelope.Envelope) error {
	isLocal := e.Local || im.Hold
	if isLocal {
		if err := im.Workspace.MakeUserDir(); err != nil {
			return err
		}
	}
	batch := im.Workspace.BlobsOf(workspace.Entry{Local: isLocal}).NewBatch()
	defer batch.Discard()
	if err := im.place(e, batch); err != nil {
		return err
	}
	if err := batch.Commit(); err != nil {
		return fmt.Errorf("write blobs: %w", err)
	}
	_, err := im.Workspace.Create(ctx, &workspace.NewConversation{
		ID: e.ID, Details: e.Details, Stream: e.Stream, BaseConfig: e.BaseConfig,
		Local: isLocal, Archived: e.Archived,
	})
	return err
}

// place stores contents in the form of this workspace, without the text that was redacted here.
func (im *Importer) place(e *envelope.Envelope, batch *blobs.Batch) error {
	kept := held{}
	for _, content := range e.Contents {
		_, _ = kept.Write(content) // held.Write cannot fail
	}
	_, err := e.Stream.Externalize(kept, events.ExternalizeOptions{Legacy: true})
	if err != nil {
		return err
	}
	im.knowRedacted()
	if e.Stream, err = im.redact(e.ID, e.Stream, e.Details, kept); err != nil {
		return err
	}
	if err = kept.inline(e.Stream, im.Workspace.Format()); err == nil {
		err = kept.give(e.Stream, batch)
	}
	if err != nil {
		return fmt.Errorf("write blobs: %w", err)
	}
	return nil
}
