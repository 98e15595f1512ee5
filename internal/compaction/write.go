package compaction

import (
	"context"
	"errors"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/lists"
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

// Restore restores an old stream of a conversation, with the blobs that only the copy has. What was
// redacted since, here or by a commit that was merged, stays redacted.
func (w Writer) Restore(ctx context.Context, kept quarantine.Copy, was *events.Stream) error {
	store := w.Workspace.BlobsOf(w.Conversation.Entry)
	entries, err := leaks.RedactionsOf(w.Workspace, nil)
	if err != nil {
		return err
	}
	contents := blobs.Readers{store, kept}
	done, err := entries.Redactions.Apply(w.Conversation.ID, was, contents)
	if err != nil {
		return err
	}
	refers, err := refersTo(done.Stream)
	if err != nil {
		return err
	}
	keep := func(content []byte) error {
		if !refers[blobs.Sum(content)] {
			return nil
		}
		_, err := store.Write(content)
		return err
	}
	for _, text := range done.Store {
		if err := keep(text); err != nil {
			return err
		}
	}
	if err := kept.Contents(keep); err != nil {
		return err
	}
	return w.Rewrite(ctx, done.Stream)
}

// refersTo returns the content to which a stream refers.
func refersTo(s *events.Stream) (map[blobs.Hash]bool, error) {
	all, err := events.References(s.Encode())
	return lists.Set(lists.Map(all, func(at events.RefAt) blobs.Hash { return at.Ref.Hash })), err
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
