package importer

import (
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

// Receive creates the conversations of envelopes unchanged, all or none. An id that already has a
// conversation here is [ErrTaken]. A user-local conversation becomes one of this user.
func (im *Importer) Receive(ctx context.Context, all []*envelope.Envelope) ([]Made, error) {
	for _, e := range all {
		if err := im.welcome(e); err != nil {
			return nil, fmt.Errorf("conversation %s: %w", e.ID, err)
		}
	}
	var made []Made
	for _, e := range all {
		m := Made{ID: e.ID, Title: title(e.Details), State: New}
		if !im.Dry {
			if err := im.receive(ctx, e); err != nil {
				return nil, errors.Join(fmt.Errorf("conversation %s: %w", e.ID, err),
					undo(ctx, im.Workspace, made))
			}
		}
		made = append(made, m)
	}
	return made, nil
}

// welcome returns an error for an envelope that is refused.
func (im *Importer) welcome(e *envelope.Envelope) error {
	copies, err := im.Workspace.Copies(e.ID)
	n, _ := sessions.ParseName(e.Details.Labels[sessions.LabelSession])
	switch {
	case err != nil:
		return err
	case len(copies) > 0:
		return ErrTaken
	case !im.Again && im.removed(n):
		return ErrRemoved
	}
	return im.Workspace.LeftOut(e.ID)
}

// undo removes conversations that were created.
func undo(ctx context.Context, w *workspace.Workspace, made []Made) error {
	var all []error
	for _, m := range slices.Backward(made) {
		all = append(all, w.Remove(context.WithoutCancel(ctx), m.ID))
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
	if err == nil && im.Again {
		err = im.Workspace.RemoveFile(workspace.RemovedPath(e.ID))
	}
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
	if err := im.settle(e.Stream, kept, batch); err != nil {
		return fmt.Errorf("write blobs: %w", err)
	}
	return nil
}
