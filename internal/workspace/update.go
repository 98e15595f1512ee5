package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/atomicfile"
)

// Update changes a conversation: it takes the lock, loads, calls f and saves what f changed. If f
// fails, or its result cannot be saved, or nothing changed, nothing is written.
//
// Programs that do not take the lock, such as an editor or git checkout, may change the files in
// the meantime. Update does not overwrite them: it loads the conversation again and calls f again,
// so f must not rely on being called once.
//
// f may change Details, replace or change Stream and replace BaseConfig; it adds content to events
// with [blobs.Loaded]. If the stream changed, its inline contents, also hand-edited ones, are moved
// to the blob store first, or, in a workspace of inline format, references are replaced by their
// content. A new title renames the directory, unless the name is taken or git has the conversation.
//
// A crash leaves each file old or new, in the order base configuration, stream, metadata, and all
// content that the stream refers to.
func (w *Workspace) Update(ctx context.Context, id events.ID, f func(*Conversation) error) error {
	return w.locked(ctx, "update", id, func(e Entry, _ []Entry) error {
		c, err := w.Load(e)
		if err != nil {
			return err
		}
		if c.Legacy {
			return ErrLegacy
		}
		if err := f(c); err != nil {
			return err
		}
		return w.save(c)
	})
}

// UpdateDetails is [Workspace.Update] for metadata.json alone. It does not read the stream, so it
// works on a conversation whose stream is damaged.
func (w *Workspace) UpdateDetails(
	ctx context.Context, id events.ID, f func(*events.Details) error,
) error {
	return w.locked(ctx, "update", id, func(e Entry, _ []Entry) error {
		_, err := w.updateDetails(e, f)
		return err
	})
}

// Rename sets the title of a conversation, or removes it if title is "". It renames the directory
// even if the title is the same: an earlier attempt may have failed before it was known whether git
// has the conversation.
func (w *Workspace) Rename(ctx context.Context, id events.ID, title string) error {
	return w.locked(ctx, "rename", id, func(e Entry, _ []Entry) error {
		e, err := w.updateDetails(e, func(d *events.Details) error {
			d.Title = &title
			if title == "" {
				d.Title = nil
			}
			return nil
		})
		if err == nil {
			_, err = w.retitle(e, title)
		}
		return err
	})
}

// locked runs f under the lock of id with the directory that id means.
func (w *Workspace) locked(
	ctx context.Context, what string, id events.ID, f func(e Entry, others []Entry) error,
) (err error) {
	unlock, err := w.Lock(ctx, id)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	return settled(ctx, func() error {
		e, others, err := w.locate(id)
		if err != nil {
			return err
		}
		if err := f(e, others); err != nil {
			return fmt.Errorf("%s conversation %s: %w", what, id, err)
		}
		return nil
	})
}

// The retries wait about two seconds in all for another program that changes a file, each twice as
// long as the one before.
const (
	settleAttempts = 11
	settleWait     = time.Millisecond
)

// settled calls f, which loads and saves, until no other program changes the files in between. A
// file that cannot be decoded then may be incomplete because that program is still writing it.
func settled(ctx context.Context, f func() error) error {
	err := f()
	for n := 0; n < settleAttempts && errors.Is(err, atomicfile.ErrChanged); n++ {
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(settleWait << n):
		}
		if err = f(); isHalf(err) {
			err = errors.Join(err, atomicfile.ErrChanged)
		}
	}
	return err
}

// isHalf reports whether an error can come from a file that another program is still writing.
func isHalf(err error) bool { return errors.As(err, new(*events.SyntaxError)) }

// updateDetails saves the details that f changes and returns the entry under its new name. The
// caller has the lock.
func (w *Workspace) updateDetails(e Entry, f func(*events.Details) error) (Entry, error) {
	if e.Legacy {
		return e, ErrLegacy
	}
	s := w.storeOf(e)
	d, old, err := s.reader().details(s.path(e), e.Path)
	if err != nil {
		return e, err
	}
	before := d.Name()
	if err := f(d); err != nil {
		return e, err
	}
	data := d.Encode()
	if bytes.Equal(data, old) {
		return e, nil
	}
	next := file{name: MetadataFile, old: old, rest: data}
	if err := s.fit(e, next); err != nil {
		return e, err
	}
	if d.Name() != before {
		if e, err = w.retitle(e, d.Name()); err != nil {
			return e, err
		}
	}
	if err := s.replace(e, next); err != nil {
		return e, err
	}
	return e, w.outrank(e, MetadataFile)
}
