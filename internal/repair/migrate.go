package repair

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/parallel"
	"github.com/git-jp/git-jp/internal/workspace"
)

// ErrDiffers reports that a conversation would not have the same content in the other form. It is a
// bug of this program; the conversation was left alone.
var ErrDiffers = errors.New("the migrated conversation differs")

// MigrateOptions are the options of a migration.
type MigrateOptions struct {
	// DryRun measures the changes and writes nothing.
	DryRun bool
	// Progress, when not nil, is called after each conversation, by one goroutine at a time.
	Progress func()
}

// A Migrated is the result for one conversation.
type Migrated struct {
	Entry workspace.Entry
	Title string
	// Before and After are the sizes of events.json. They are equal if there was nothing to do.
	Before, After int64
	// Contents counts the pieces of content that changed their form.
	Contents int
	// Blobs counts the blobs that the store did not have, and BlobBytes the size of their files.
	Blobs     int
	BlobBytes int64
	// Err is why the conversation was left alone, or nil. It is workspace.ErrLegacy for a
	// messages.json.
	Err error
}

// sideBySide is how many conversations are migrated at a time. Each waits for the disk several
// times, and keeps one conversation in memory.
const sideBySide = 4

// Migrate converts conversations to the format of the workspace: to references to its store, or to
// the form that today's jp reads. A conversation that cannot be migrated has its error in the
// result and does not stop the others. The results are in the order of the entries. The error is
// that of the context; the result then has the conversations that were migrated before.
//
// Several conversations are migrated at a time, but that does not affect the results: new content
// is counted for the first conversation in order that has it.
func Migrate(
	ctx context.Context, w *workspace.Workspace, entries []workspace.Entry, o MigrateOptions,
) ([]Migrated, error) {
	if w.Format() == workspace.FormatInline {
		if err := w.Expect(ctx, entries); err != nil {
			return nil, err
		}
	}
	all := make([]migration, len(entries))
	known := &inventory{present: make(map[content]bool)}
	var progress sync.Mutex
	parallel.Each(len(entries), sideBySide, func(i int) {
		if ctx.Err() != nil {
			return
		}
		all[i] = migration{space: w, known: known, result: Migrated{Entry: entries[i]}}
		all[i].run(ctx, o)
		if o.Progress != nil {
			progress.Lock()
			defer progress.Unlock()
			o.Progress()
		}
	})
	return settle(all, o.DryRun), ctx.Err()
}

// settle returns the results that were finished, and counts new content.
func settle(all []migration, dry bool) []Migrated {
	results := make([]Migrated, 0, len(all))
	counted := make(map[content]bool)
	for i := range all {
		m := &all[i]
		if !m.finished {
			continue
		}
		if m.result.Err == nil {
			m.result.Err = m.count(counted, dry)
		}
		results = append(results, m.result)
	}
	return results
}

// A content identifies content in a store.
type content struct {
	store *blobs.Store
	hash  blobs.Hash
}

// An inventory records which content the stores had before anything was written.
type inventory struct {
	mu      sync.Mutex
	present map[content]bool
}

// had reports whether a store had some content. It must be called before the content is written.
func (n *inventory) had(c content) (bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if was, ok := n.present[c]; ok {
		return was, nil
	}
	_, err := c.store.Stat(c.hash)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	has := err == nil || c.store.Has(c.hash)
	n.present[c] = has
	return has, nil
}

// A migration is the migration of one conversation.
type migration struct {
	space    *workspace.Workspace
	known    *inventory
	added    []addition // content new to the store, in order, without duplicates
	finished bool       // done, successfully or not
	result   Migrated
}

// An addition is content that the store did not have.
type addition struct {
	content
	size int64 // of its file, set in a dry run
}

func (m *migration) run(ctx context.Context, o MigrateOptions) {
	m.result.Err = m.one(ctx, o)
	m.finished = m.result.Err == nil || ctx.Err() == nil || !errors.Is(m.result.Err, ctx.Err())
}

// count adds up the content that no earlier conversation has.
func (m *migration) count(counted map[content]bool, dry bool) error {
	for _, a := range m.added {
		if counted[a.content] {
			continue
		}
		counted[a.content] = true
		if !dry {
			info, err := a.store.Stat(a.hash)
			if err != nil {
				return err
			}
			a.size = info.Size()
		}
		m.result.Blobs++
		m.result.BlobBytes += a.size
	}
	return nil
}

func (m *migration) one(ctx context.Context, o MigrateOptions) error {
	if m.result.Entry.Legacy {
		return workspace.ErrLegacy
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	conv, err := m.space.Load(m.result.Entry)
	switch {
	case err != nil && o.DryRun:
		return err
	case err == nil && (o.DryRun || m.isDone(conv)):
		err = m.convert(conv, m.meter(m.space.BlobsOf(conv.Entry), nil))
		if o.DryRun || err == nil && m.result.Contents == 0 {
			return err
		}
		m.added = nil
	}
	// Looking up conversations under the lock takes time proportional to their number.
	return m.space.Update(ctx, m.result.Entry.ID, m.save)
}

// isDone reports whether all content of a conversation has the form of the workspace.
func (m *migration) isDone(conv *workspace.Conversation) bool {
	if conv.Stream == nil {
		return false
	}
	inline := m.space.Format() == workspace.FormatInline
	for c := range conv.Stream.Contents() {
		if c.Content.IsRef() == inline {
			return false
		}
	}
	return true
}

// save converts a conversation inside an update, storing content in one batch.
func (m *migration) save(conv *workspace.Conversation) error {
	// A reference without content has none afterwards; reporting it is up to check.
	conv.AllowDangling = true
	store := m.space.BlobsOf(conv.Entry)
	batch := store.NewBatch()
	if err := m.convert(conv, m.meter(store, batch)); err != nil {
		batch.Discard()
		return err
	}
	return batch.Commit()
}

// convert changes the conversation's stream and verifies that it is equal.
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

// A meter records the content that the store does not have yet. It stores through a batch or, in a
// dry run, not at all.
type meter struct {
	*migration
	store *blobs.Store
	batch *blobs.Batch
	seen  map[blobs.Hash]bool
}

func (m *migration) meter(store *blobs.Store, batch *blobs.Batch) *meter {
	return &meter{m, store, batch, make(map[blobs.Hash]bool)}
}

// Write implements events.Writer.
func (m *meter) Write(b []byte) (blobs.Ref, error) {
	ref := blobs.RefTo(b)
	if m.seen[ref.Hash] {
		return ref, nil
	}
	m.seen[ref.Hash] = true
	if err := m.note(content{m.store, ref.Hash}, b); err != nil {
		return ref, err
	}
	if m.batch == nil {
		return ref, nil
	}
	return m.batch.Write(b)
}

func (m *meter) note(c content, b []byte) error {
	had, err := m.known.had(c)
	if err != nil || had {
		return err
	}
	a := addition{content: c}
	if m.batch == nil {
		a.size = int64(len(blobs.Encode(b)))
	}
	m.added = append(m.added, a)
	return nil
}
