package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/git-jp/git-jp/events"
)

// Publish moves a user-local conversation into the workspace, with its contents and its other
// files. The user-local one is removed last: until then nothing is lost.
func (w *Workspace) Publish(ctx context.Context, id events.ID) (Entry, error) {
	e, err := w.held(id)
	if err != nil {
		return Entry{}, fmt.Errorf("publish conversation %s: %w", id, err)
	}
	c, err := w.Load(e)
	if err != nil {
		return Entry{}, err
	}
	n := &NewConversation{
		ID: id, Details: c.Details, Stream: c.Stream, BaseConfig: c.BaseConfig,
		Archived: e.Partition == Archive, Beside: true, Files: map[string][]byte{},
	}
	for _, name := range c.Files {
		if slices.Contains(Files(), name) {
			continue
		}
		if n.Files[name], err = w.ReadFile(e, name); err != nil {
			return Entry{}, err
		}
	}
	if err := w.copyContents(e, c.Stream); err != nil {
		return Entry{}, fmt.Errorf("publish conversation %s: %w", id, err)
	}
	to, err := w.Create(ctx, n)
	if err != nil {
		return Entry{}, err
	}
	return to, w.locked(ctx, "publish", id, func(Entry, []Entry) error {
		return w.storeOf(e).remove(e)
	})
}

// held returns the conversation of an id that exists only in user-local storage.
func (w *Workspace) held(id events.ID) (Entry, error) {
	copies, err := w.Copies(id)
	if err != nil {
		return Entry{}, err
	}
	if i := slices.IndexFunc(copies, func(e Entry) bool { return !e.Local }); i >= 0 {
		return Entry{}, fmt.Errorf("the workspace has it already: %w", fs.ErrExist)
	}
	if len(copies) != 1 {
		return Entry{}, errors.Join(fs.ErrNotExist, uniqueOf(copies))
	}
	return copies[0], w.LeftOut(id)
}

func uniqueOf(copies []Entry) error {
	if len(copies) == 0 {
		return nil
	}
	return unique(copies[0], copies[1:])
}

// copyContents copies the contents of a user-local conversation into the workspace's store.
func (w *Workspace) copyContents(e Entry, s *events.Stream) error {
	from, batch := w.BlobsOf(e), w.Blobs().NewBatch()
	defer batch.Discard()
	refs, err := events.References(s.Encode())
	if err != nil {
		return err
	}
	for _, ref := range refs {
		if !ref.Counts() {
			continue
		}
		content, err := from.Read(ref.Ref)
		if err == nil {
			_, err = batch.Write(content)
		}
		if err != nil {
			return fmt.Errorf("content %s: %w", ref.Ref.Hash, err)
		}
	}
	return batch.Commit()
}
