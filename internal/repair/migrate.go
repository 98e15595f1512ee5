package repair

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/workspace"
)

// ErrDiffers says that a conversation would not say the same in the other form. It is
// a fault of this program; the conversation was left alone.
var ErrDiffers = errors.New("the migrated conversation does not say the same")

// MigrateOptions choose what a migration does.
type MigrateOptions struct {
	// DryRun measures what would change and writes nothing.
	DryRun bool
	// Progress, when not nil, is called after each conversation.
	Progress func()
}

// A Migrated is what became of one conversation.
type Migrated struct {
	Entry workspace.Entry
	Title string
	// Before and After are the sizes of events.json. They are equal when nothing was
	// to be done.
	Before, After int64
	// Contents counts the contents that changed their form.
	Contents int
	// Blobs counts the files that the store did not have, BlobBytes their size.
	Blobs     int
	BlobBytes int64
	// Err is why the conversation was left alone, nil when it was not. It is
	// workspace.ErrLegacy for a messages.json.
	Err error
}

// Migrate brings conversations into the format of the workspace: into references to
// its store, or into the form that today's jp reads. A conversation that cannot be
// migrated has its error in the result and stops none of the others. The error is
// that of the context; the result then says what was done.
func Migrate(
	ctx context.Context, w *workspace.Workspace, entries []workspace.Entry, o MigrateOptions,
) ([]Migrated, error) {
	results := make([]Migrated, 0, len(entries))
	seen := make(map[blobs.Hash]bool)
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return results, err
		}
		m := migration{space: w, seen: seen, result: Migrated{Entry: e}}
		m.result.Err = m.one(ctx, o)
		results = append(results, m.result)
		if o.Progress != nil {
			o.Progress()
		}
	}
	return results, nil
}

// A migration is that of one conversation.
type migration struct {
	space  *workspace.Workspace
	seen   map[blobs.Hash]bool // contents that were counted
	result Migrated
}

func (m *migration) one(ctx context.Context, o MigrateOptions) error {
	if m.result.Entry.Legacy {
		return workspace.ErrLegacy
	}
	if !o.DryRun {
		return m.space.Update(ctx, m.result.Entry.ID, m.save)
	}
	conv, err := m.space.Load(m.result.Entry)
	if err != nil {
		return err
	}
	return m.convert(conv, &meter{migration: m, store: m.space.BlobsOf(conv.Entry)})
}

// save converts inside an update, storing content in one batch.
func (m *migration) save(conv *workspace.Conversation) error {
	// A reference that dangled before dangles after: that is for check to say.
	conv.AllowDangling = true
	store := m.space.BlobsOf(conv.Entry)
	batch := store.NewBatch()
	w := &meter{migration: m, store: store, batch: batch}
	if err := m.convert(conv, w); err != nil {
		batch.Discard()
		return err
	}
	if err := batch.Commit(); err != nil {
		return err
	}
	for _, hash := range w.added {
		info, err := store.Stat(hash)
		if err != nil {
			return err
		}
		m.result.BlobBytes += info.Size()
	}
	return nil
}

// convert changes the conversation's stream and makes sure that it says the same.
func (m *migration) convert(conv *workspace.Conversation, w events.Writer) error {
	before := conv.Stream.Clone()
	m.result.Title = conv.Title()
	m.result.Before = int64(len(before.Encode()))
	m.result.After = m.result.Before
	n, err := m.change(conv, w)
	if err != nil {
		return err
	}
	if err := same(before, conv.Stream); err != nil {
		return err
	}
	m.result.Contents = n
	m.result.After = int64(len(conv.Stream.Encode()))
	return nil
}

func (m *migration) change(conv *workspace.Conversation, w events.Writer) (int, error) {
	if m.space.Format() == workspace.FormatInline {
		return conv.Stream.Inline(m.space.BlobsOf(conv.Entry))
	}
	return conv.Stream.Externalize(w, events.ExternalizeOptions{Legacy: true})
}

func same(a, b *events.Stream) error {
	if a.Len() != b.Len() {
		return fmt.Errorf("%d elements became %d: %w", a.Len(), b.Len(), ErrDiffers)
	}
	for i, e := range a.All() {
		if !events.Equal(e, b.At(i)) {
			return fmt.Errorf("element %d: %w", i, ErrDiffers)
		}
	}
	return nil
}

// A meter counts what the store does not have yet. It stores through a batch or,
// in a dry run, not at all.
type meter struct {
	*migration
	store *blobs.Store
	batch *blobs.Batch
	added []blobs.Hash
}

// Write implements events.Writer.
func (m *meter) Write(b []byte) (blobs.Ref, error) {
	ref := blobs.RefTo(b)
	if !m.seen[ref.Hash] {
		m.seen[ref.Hash] = true
		if err := m.count(ref, b); err != nil {
			return ref, err
		}
	}
	if m.batch == nil {
		return ref, nil
	}
	return m.batch.Write(b)
}

func (m *meter) count(ref blobs.Ref, b []byte) error {
	_, err := m.store.Stat(ref.Hash)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	m.added = append(m.added, ref.Hash)
	m.result.Blobs++
	if m.batch == nil {
		m.result.BlobBytes += int64(len(blobs.Encode(b)))
	}
	return nil
}
