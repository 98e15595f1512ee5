package query

import (
	"context"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Beginning is the record of a conversation that its first save creates, so that a query that
// fails before it asks leaves nothing on disk.
type Beginning struct {
	workspace *workspace.Workspace
	create    *workspace.NewConversation
	created   func(workspace.Entry)
	hold      *workspace.Hold
	held      *held
}

// Begin returns the record of a new conversation, which begins with the stream of n. Created is
// called once the conversation exists, and again for a fork as in [Held], and may be nil. The
// creation cannot be interrupted.
func Begin(
	w *workspace.Workspace, n *workspace.NewConversation, created func(workspace.Entry),
) *Beginning {
	if n.Stream == nil {
		n.Stream = events.New()
	}
	return &Beginning{workspace: w, create: n, created: created}
}

// Stream implements [Record].
func (b *Beginning) Stream() *events.Stream {
	if b.hold == nil {
		return b.create.Stream
	}
	return b.hold.Conversation().Stream
}

// Contents implements [Record].
func (b *Beginning) Contents() blobs.Reader {
	if b.hold == nil {
		return b.workspace.BlobsOf(workspace.Entry{Local: b.create.Local})
	}
	return b.workspace.BlobsOf(b.hold.Conversation().Entry)
}

// Save implements [Record].
func (b *Beginning) Save(change func(*events.Stream) error) error {
	if b.hold != nil {
		return b.held.Save(change)
	}
	n := *b.create
	n.Stream = n.Stream.Clone()
	if err := change(n.Stream); err != nil {
		return err
	}
	e, err := b.workspace.Create(context.Background(), &n)
	if err != nil {
		return err
	}
	if b.hold, err = b.workspace.Hold(context.Background(), e.ID); err != nil {
		return err
	}
	b.held = heldFrom(b.workspace, b.hold, b.create.Stream.Len(), b.created)
	if b.created != nil {
		b.created(e)
	}
	return nil
}

// Update changes the conversation. It does nothing before the conversation exists.
func (b *Beginning) Update(f func(*workspace.Conversation) error) error {
	if b.hold == nil {
		return nil
	}
	return b.hold.Update(f)
}

// Release releases the hold on the conversation.
func (b *Beginning) Release() error {
	if b.hold == nil {
		return nil
	}
	return b.hold.Release()
}
