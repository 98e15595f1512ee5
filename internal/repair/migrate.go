package repair

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"

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

// sideBySide is how many conversations are migrated at a time. Each waits for the disk
// several times, and holds one conversation in memory.
const sideBySide = 4

// Migrate brings conversations into the format of the workspace: into references to
// its store, or into the form that today's jp reads. A conversation that cannot be
// migrated has its error in the result and stops none of the others. The results are in
// the order of the entries. The error is that of the context; the result then says
// what was done.
//
// Several are migrated at a time. That shows in no result: new content counts for the first
// conversation in order that has it.
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
	next := make(chan *migration)
	done := make(chan struct{})
	var group sync.WaitGroup
	for range min(sideBySide, len(entries)) {
		group.Go(func() {
			for m := range next {
				m.run(ctx, o)
				done <- struct{}{}
			}
		})
	}
	go func() {
		defer func() { close(next); group.Wait(); close(done) }()
		for i, e := range entries {
			all[i] = migration{space: w, known: known, result: Migrated{Entry: e}}
			select {
			case next <- &all[i]:
			case <-ctx.Done():
				return
			}
		}
	}()
	for range done {
		if o.Progress != nil {
			o.Progress()
		}
	}
	return settle(all, o.DryRun), ctx.Err()
}

// settle returns the results of what was finished, and counts new content.
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

// A content is one in a store.
type content struct {
	store *blobs.Store
	hash  blobs.Hash
}

// An inventory knows which contents the stores had before anything was written.
type inventory struct {
	mu      sync.Mutex
	present map[content]bool
}

// had reports whether a store had a content. It must be asked before that is written.
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

// A migration is that of one conversation.
type migration struct {
	space    *workspace.Workspace
	known    *inventory
	added    []addition // what the store did not have, in order, each once
	finished bool       // as far as it can be
	result   Migrated
}

// An addition is content that the store did not have.
type addition struct {
	content
	size int64 // of its file, known in a dry run
}

func (m *migration) run(ctx context.Context, o MigrateOptions) {
	m.result.Err = m.one(ctx, o)
	m.finished = m.result.Err == nil || ctx.Err() == nil || !errors.Is(m.result.Err, ctx.Err())
}

// count adds up the content that no conversation before has.
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
	// To find a conversation under its lock costs as much as there are.
	return m.space.Update(ctx, m.result.Entry.ID, m.save)
}

// isDone reports whether each content of a conversation is where it is to be.
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

// save converts inside an update, storing content in one batch.
func (m *migration) save(conv *workspace.Conversation) error {
	// A reference that dangled before dangles after: that is for check to say.
	conv.AllowDangling = true
	store := m.space.BlobsOf(conv.Entry)
	batch := store.NewBatch()
	if err := m.convert(conv, m.meter(store, batch)); err != nil {
		batch.Discard()
		return err
	}
	return batch.Commit()
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

// A meter notes what the store does not have yet. It stores through a batch or, in a dry
// run, not at all.
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
