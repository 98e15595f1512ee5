package redact

import (
	"context"
	"fmt"
	"os"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/quarantine"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Undo restores a conversation from before it was last redacted, with the events that were added
// since, and removes the entries that would redact it again. It returns their paths, below .jp.
func (r Redactor) Undo(ctx context.Context, id events.ID) (entries []string, err error) {
	err = r.Workspace.Update(ctx, id, func(c *workspace.Conversation) error {
		kept, was, ok := r.copy(c)
		if !ok {
			return quarantine.ErrNone
		}
		store := r.Workspace.BlobsOf(c.Entry)
		err := kept.Contents(func(content []byte) error {
			_, err := store.Write(content)
			return err
		})
		if err != nil {
			return err
		}
		forgotten, err := r.forget(c.ID, was)
		entries = append(entries, forgotten...) // this may be called again
		c.Stream = was
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("undo redaction: %w", err)
	}
	return entries, nil
}

func (r Redactor) copy(
	c *workspace.Conversation,
) (kept quarantine.Copy, was *events.Stream, ok bool) {
	for _, kept := range r.Quarantine.CopiesOf(quarantine.Redacted, c.ID) {
		if was, ok := kept.Restored(c.Stream); ok {
			return kept, was, true
		}
	}
	return kept, nil, false
}

// forget removes the entries that change a stream.
func (r Redactor) forget(id events.ID, s *events.Stream) (names []string, err error) {
	entries, err := leaks.EntriesOf(r.Workspace)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(r.Workspace.Dir())
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // nothing is written through it
	for _, entry := range entries.Redacted {
		done, err := secrets.NewRedactions([]secrets.Redaction{entry}).
			Apply(id, s, r.Workspace.Blobs())
		if err != nil {
			return nil, err
		}
		if len(done.Replaced) == 0 {
			continue
		}
		if err := root.Remove(entry.Name()); err != nil {
			return nil, err
		}
		names = append(names, entry.Name())
	}
	return names, nil
}
