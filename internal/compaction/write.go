package compaction

import (
	"context"
	"errors"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/quarantine"
	"github.com/git-jp/git-jp/internal/workspace"
)

// ErrMoved is the error for a conversation that another program changed meanwhile.
var ErrMoved = errors.New("the conversation changed in the meantime")

// A Writer saves a new version of a loaded conversation, unless another program changed it
// meanwhile.
type Writer struct {
	Workspace    *workspace.Workspace
	Conversation *workspace.Conversation
}

// Rewrite saves another stream.
func (w Writer) Rewrite(ctx context.Context, s *events.Stream) error {
	return w.update(ctx, s, func(*events.Stream) error { return nil })
}

// Replace saves another stream, and quarantines the old one first.
func (w Writer) Replace(
	ctx context.Context, q quarantine.Quarantine, kind quarantine.Kind, s *events.Stream,
	at time.Time,
) (kept *quarantine.Item, err error) {
	err = w.update(ctx, s, func(was *events.Stream) (err error) {
		if kept != nil {
			return nil // a retry with the same stream
		}
		kept, err = q.Put(quarantine.Change{
			Kind: kind, ID: w.Conversation.ID, At: at, Was: was, Is: s,
			Contents: w.Workspace.BlobsOf(w.Conversation.Entry),
		})
		return err
	})
	return kept, err
}

// Restore restores an old stream of a conversation, with the blobs that only the copy has.
func (w Writer) Restore(ctx context.Context, kept quarantine.Copy, was *events.Stream) error {
	store := w.Workspace.BlobsOf(w.Conversation.Entry)
	err := kept.Contents(func(content []byte) error {
		_, err := store.Write(content)
		return err
	})
	if err != nil {
		return err
	}
	return w.Rewrite(ctx, was)
}

func (w Writer) update(
	ctx context.Context, s *events.Stream, keep func(was *events.Stream) error,
) error {
	id := w.Conversation.ID
	return w.Workspace.Update(ctx, id, func(now *workspace.Conversation) error {
		if string(now.Stream.Encode()) != string(w.Conversation.Stream.Encode()) {
			return ErrMoved
		}
		err := keep(now.Stream)
		now.Stream, now.AllowDangling = s, true
		return err
	})
}
