package redact

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/git-jp/git-jp/internal/regular"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/quarantine"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// An Undone describes what an undo did.
type Undone struct {
	// Entries holds the paths of the removed entries, below .jp.
	Entries []string
	// Stays says what was changed since the redaction and so is not restored, and Former is
	// the directory that has it.
	Stays  []string
	Former string
}

// Undo restores a conversation from before it was last redacted, with the events that were added
// since, and removes the entries that would redact it again. Title, labels and the name of the
// directory are restored too, except those that were changed since.
func (r Redactor) Undo(ctx context.Context, id events.ID) (u Undone, err error) {
	err = r.Workspace.Update(ctx, id, func(c *workspace.Conversation) error {
		b, ok := r.lastRedacted(c)
		u.Stays, u.Former = b.stays, b.kept.Dir
		if !ok {
			return b.failed
		}
		store := r.Workspace.BlobsOf(c.Entry)
		err := b.kept.Contents(func(content []byte) error {
			_, err := store.Write(content)
			return err
		})
		if err != nil {
			return err
		}
		if b.stream != nil {
			forgotten, err := r.forget(c.ID, b.stream)
			u.Entries = append(u.Entries, forgotten...) // this may be called again
			if err != nil {
				return err
			}
			c.Stream = b.stream
		}
		b.name(c)
		return nil
	})
	if err != nil {
		return u, fmt.Errorf("undo redaction: %w", err)
	}
	return u, nil
}

// A before is what a copy can restore of a conversation.
type before struct {
	kept    quarantine.Copy
	stream  *events.Stream    // nil if it is not to be restored
	texts   map[string]string // of the metadata, by their names in [events.Details.MapTexts]
	dirname string            // "" if it is not to be restored
	stays   []string          // what was changed since
	failed  error             // why the stream is not restored
}

// lastRedacted returns the state from before the last redaction that can be undone. Without one it
// only says what was changed since. A redaction that was stopped and run again has several copies
// with the same result, of which the first has the state before both.
func (r Redactor) lastRedacted(c *workspace.Conversation) (last before, ok bool) {
	last.failed = quarantine.ErrNone
	for _, kept := range r.Quarantine.CopiesOf(quarantine.Redacted, c.ID) {
		if ok && !kept.SameResult(last.kept) {
			break
		}
		b := beforeOf(kept, c)
		switch restores := b.stream != nil || len(b.texts) > 0 || b.dirname != ""; {
		case restores:
			last, ok = b, true
		case !ok && len(last.stays) == 0 && errors.Is(last.failed, quarantine.ErrNone):
			last = b
		}
	}
	return last, ok
}

func beforeOf(kept quarantine.Copy, c *workspace.Conversation) before {
	b := before{kept: kept, texts: map[string]string{}}
	now, before := c.Stream.Encode(), kept.Stream.Encode()
	stream, err := kept.Restored(c.Stream)
	switch {
	case err != nil:
		b.failed = err
	case bytes.Equal(now, before):
		b.failed = quarantine.ErrNone
	default:
		b.stream = stream
	}
	n := kept.Named
	if n == nil {
		return b
	}
	was, is := textsOf(n.Was.Metadata), textsOf(n.Is.Metadata)
	texts := textsOf(c.Details.Encode())
	for name, text := range was {
		switch texts[name] {
		case text:
		case is[name]:
			b.texts[name] = text
		default:
			b.stays = append(b.stays, "the "+name+" was changed since")
		}
	}
	slices.Sort(b.stays)
	switch c.Dirname {
	case n.Was.Dirname:
	case n.Is.Dirname:
		b.dirname = n.Was.Dirname
	default:
		b.stays = append(b.stays, "the directory was renamed since")
	}
	return b
}

// textsOf returns the texts of a metadata.json by name.
func textsOf(metadata []byte) map[string]string {
	all := map[string]string{}
	d, err := events.DecodeDetails(metadata)
	if err != nil {
		return all // it was not saved by a redaction
	}
	d.MapTexts(func(name, text string) string {
		all[name] = text
		return text
	})
	return all
}

// name restores the name of the directory and the texts of the metadata, byte for byte if nothing
// else in it was changed.
func (b before) name(c *workspace.Conversation) {
	c.Rename = cmp.Or(b.dirname, c.Dirname)
	if n := b.kept.Named; n != nil && bytes.Equal(c.Details.Encode(), n.Is.Metadata) {
		if d, err := events.DecodeDetails(n.Was.Metadata); err == nil {
			c.Details = d
			return
		}
	}
	c.Details.MapTexts(func(name, text string) string {
		if was, ok := b.texts[name]; ok {
			return was
		}
		return text
	})
}

// forget removes the entries that change a stream.
func (r Redactor) forget(id events.ID, s *events.Stream) (names []string, err error) {
	entries, err := leaks.RedactionsOf(r.Workspace, r.Memo)
	if err != nil {
		return nil, err
	}
	root, err := regular.OpenRoot(r.Workspace.Dir())
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // nothing is written through it
	for {
		done, err := entries.Redactions.Apply(id, s, r.Workspace.Blobs())
		if err != nil || len(done.Replaced) == 0 {
			return names, err
		}
		// An entry that another one covered applies once that is gone.
		var kept []secrets.Redaction
		for _, entry := range entries.Redacted {
			if !changes(entry, done.Replaced) {
				kept = append(kept, entry)
				continue
			}
			// A sparse checkout may leave it out: the caller removes it from the index.
			err = root.Remove(entry.Name())
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			names = append(names, entry.Name())
		}
		if len(kept) == len(entries.Redacted) {
			return names, nil
		}
		entries.Redacted, entries.Redactions = kept, secrets.NewRedactions(kept)
	}
}

// changes reports whether an entry names one of the values that were replaced.
func changes(entry secrets.Redaction, replaced []secrets.Replaced) bool {
	return slices.ContainsFunc(replaced, func(r secrets.Replaced) bool {
		return r.Event == entry.Event && r.Member == entry.Member &&
			slices.ContainsFunc(r.Values, func(v secrets.Value) bool {
				return slices.Contains(entry.Ranges, v.Range)
			})
	})
}
