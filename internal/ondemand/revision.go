package ondemand

import (
	"context"
	"errors"
	"fmt"
	"path"
	"sync"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Place is where a snapshot has a conversation.
type Place struct {
	workspace.Entry

	Snapshot gitint.Snapshot
	Store    string // of its blobs, as a path of the snapshot
	// Wanted returns the turns whose contents are read, counted from 0. It may be nil, for all.
	Wanted func(*workspace.Conversation) func(turn int) bool
}

// Fetch fetches conversations before they are read, in a clone that may not have them: all their
// files in one request, and their contents, if requested, in another. In any other clone it does
// nothing.
func Fetch(ctx context.Context, repo *gitint.Repo, contents bool, all ...Place) error {
	partial, err := repo.Partial(ctx)
	if err != nil || !partial {
		return err
	}
	var ids []gitint.OID
	for _, p := range all {
		entries, err := p.Snapshot.Entries(p.Path)
		if err != nil {
			return fmt.Errorf("list what is to be fetched: %w", err)
		}
		for _, e := range entries {
			ids = append(ids, e.OID)
		}
	}
	if err := repo.Bring(ctx, ids, 0); err != nil || !contents {
		return err
	}
	ids, bytes := ids[:0], int64(0)
	for _, p := range all {
		ids, bytes = p.contents(ids, bytes)
	}
	return repo.Bring(ctx, ids, bytes)
}

// contents adds the objects of contents, and their sizes; nothing for an unreadable conversation.
func (p Place) contents(ids []gitint.OID, bytes int64) ([]gitint.OID, int64) {
	conv, err := workspace.Read(p.Snapshot, p.Entry)
	if err != nil {
		return ids, bytes // reading it reports the error
	}
	wanted := func(int) bool { return true }
	if p.Wanted != nil {
		wanted = p.Wanted(conv)
	}
	for at := range conv.Stream.Contents() {
		if !at.Content.IsRef() || !wanted(at.Turn) {
			continue
		}
		ref := at.Content.Ref()
		if id, ok := p.Snapshot.OID(path.Join(p.Store, ref.Hash.Path())); ok {
			ids, bytes = append(ids, id), bytes+ref.Size
		}
	}
	return ids, bytes
}

// Contents reads the store at dir of a snapshot. It fetches nothing: content that a remote has
// promised and that is not here is a *[blobs.NotHereError].
func Contents(snap gitint.Snapshot, dir string) blobs.Reader {
	return promised{blobs.FS(gitint.Sub(snap, dir), 0)}
}

// promised distinguishes content that is elsewhere from lost content.
type promised struct{ blobs.Reader }

// Read implements [blobs.Reader].
func (p promised) Read(ref blobs.Ref) ([]byte, error) {
	data, err := p.Reader.Read(ref)
	missing, ok := errors.AsType[*gitint.MissingObjectError](err)
	if ok && missing.Promised {
		return nil, &blobs.NotHereError{Ref: ref, Err: err}
	}
	return data, err
}

// Demanded reads the contents of one conversation of a snapshot. All of them are fetched in one
// request when the first that is not here is read; content that does not arrive is not requested
// again.
func Demanded(repo *gitint.Repo, p Place) blobs.Reader {
	return demanded{Contents(p.Snapshot, p.Store), sync.OnceValue(func() error {
		ctx := context.Background() // ending the command ends git too
		return Fetch(ctx, repo, true, p)
	})}
}

type demanded struct {
	blobs.Reader

	fetch func() error
}

// Read implements [blobs.Reader].
func (d demanded) Read(ref blobs.Ref) ([]byte, error) {
	data, err := d.Reader.Read(ref)
	if _, ok := errors.AsType[*blobs.NotHereError](err); !ok {
		return data, err
	}
	if err := d.fetch(); err != nil {
		return nil, &blobs.NotHereError{Ref: ref, Err: err}
	}
	return d.Reader.Read(ref)
}
