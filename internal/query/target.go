package query

import (
	"context"
	"errors"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Target is the conversation that a question goes to: one that is held, one that the question
// begins, or one that is read and stays as it is.
type Target struct {
	Workspace *workspace.Workspace
	Hold      *workspace.Hold            // nil for one that is not held
	Create    *workspace.NewConversation // what there is of one that is not held
	ID        events.ID                  // 0 before it is there; tools read it, so it is set before
	Fresh     bool                       // its configuration is that of now
	// Activate is told of a conversation that the question began.
	Activate func(events.ID) error

	beginning *Beginning
	unsaved   Record // of a question that is not kept, nil for others
}

// KeepNothing has what is asked and answered in memory only.
func (t *Target) KeepNothing() { t.unsaved = Unsaved(t.Workspace, t.Create) }

// Look reads a conversation that stays as it is.
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

// Wait holds a conversation as soon as it is free.
func (t *Target) Wait(ctx context.Context, id events.ID) (err error) {
	for {
		t.Hold, err = t.Workspace.Hold(ctx, id)
		if _, locked := errors.AsType[*workspace.LockedError](err); ctx.Err() != nil || !locked {
			return err
		}
	}
}

// Release lets others have the conversation.
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

// Stream returns the stream as it is now.
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

// BaseConfig returns the configuration with which the conversation began.
func (t *Target) BaseConfig() []byte {
	if t.Hold != nil {
		return t.Hold.Conversation().BaseConfig
	}
	return t.Create.BaseConfig
}

// Title returns the title as it is now, "" for none.
func (t *Target) Title() string {
	d := t.details()
	if d == nil || d.Title == nil {
		return ""
	}
	return *d.Title
}

func (t *Target) details() *events.Details {
	if t.Hold != nil {
		return t.Hold.Conversation().Details
	}
	return t.Create.Details
}

// Update changes the conversation if it is there.
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

// Record returns what the turn writes to.
func (t *Target) Record() Record {
	if t.unsaved != nil {
		return t.unsaved
	}
	if t.Hold != nil {
		return Held(t.Workspace, t.Hold)
	}
	if t.beginning == nil {
		t.beginning = Begin(t.Workspace, t.Create, func(e workspace.Entry) error {
			t.ID = e.ID
			return t.Activate(e.ID)
		})
	}
	return t.beginning
}
