package query

import (
	"context"
	"errors"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Target is the conversation that a question goes to: one that is held, one that the question
// creates, or one that is only read.
type Target struct {
	Workspace *workspace.Workspace
	Hold      *workspace.Hold            // nil if not held
	Create    *workspace.NewConversation // the conversation if not held
	ID        events.ID                  // 0 before it exists; set before tools read it
	Fresh     bool                       // its configuration is the current one
	Lost      events.ID                  // that the question was asked in; ID is a fork of it
	// Activate is called with a conversation that the question created.
	Activate func(events.ID)

	beginning *Beginning
	unsaved   Record // of a question that is not saved, else nil
}

// KeepNothing keeps question and answer in memory only.
func (t *Target) KeepNothing() { t.unsaved = newUnsaved(t.Workspace, t.Create) }

// Saves reports whether question and answer go to disk.
func (t *Target) Saves() bool { return t.unsaved == nil }

// Look reads a conversation without changing it.
func (t *Target) Look(e workspace.Entry) error {
	conv, err := t.Workspace.Load(e)
	if err != nil {
		return err
	}
	t.ID = e.ID
	t.Create = &workspace.NewConversation{
		Details: conv.Details, Stream: conv.Stream, BaseConfig: conv.BaseConfig, Local: conv.Local,
	}
	return nil
}

// Wait waits until a conversation is free and holds it.
func (t *Target) Wait(ctx context.Context, id events.ID) (err error) {
	for {
		t.Hold, err = t.Workspace.Hold(ctx, id)
		if _, locked := errors.AsType[*workspace.LockedError](err); ctx.Err() != nil || !locked {
			return err
		}
	}
}

// Release releases the conversation.
func (t *Target) Release() error {
	switch {
	case t.Hold != nil:
		return t.Hold.Release()
	case t.beginning != nil:
		return t.beginning.Release()
	default:
		return nil
	}
}

// Stream returns the current stream.
func (t *Target) Stream() *events.Stream {
	switch {
	case t.unsaved != nil:
		return t.unsaved.Stream()
	case t.Hold != nil:
		return t.Hold.Conversation().Stream
	case t.Create.Stream != nil:
		return t.Create.Stream
	default:
		return events.New()
	}
}

// BaseConfig returns the configuration that the conversation began with.
func (t *Target) BaseConfig() []byte {
	if t.Hold != nil {
		return t.Hold.Conversation().BaseConfig
	}
	return t.Create.BaseConfig
}

// Title returns the current title, "" for none.
func (t *Target) Title() string {
	if t.Hold != nil {
		return t.Hold.Conversation().Details.Name()
	}
	return t.Create.Details.Name()
}

// Update changes the conversation. It does nothing before the conversation exists.
func (t *Target) Update(f func(*workspace.Conversation) error) error {
	switch {
	case t.Hold != nil:
		return t.Hold.Update(f)
	case t.beginning != nil:
		return t.beginning.Update(f)
	default:
		return nil
	}
}

// Record returns the record that the turn writes to.
func (t *Target) Record() Record {
	if t.unsaved != nil {
		return t.unsaved
	}
	if t.Hold != nil {
		return Held(t.Workspace, t.Hold, t.created)
	}
	if t.beginning == nil {
		t.beginning = Begin(t.Workspace, t.Create, t.created)
	}
	return t.beginning
}

// created makes a conversation that was created for the question the target.
func (t *Target) created(e workspace.Entry) {
	t.Lost, t.ID = t.ID, e.ID
	t.Activate(e.ID)
}
