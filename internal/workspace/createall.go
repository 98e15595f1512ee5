package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/atomicfile"
)

// CreateAll makes conversations of one place as [Workspace.Create] does, each with the ID that it
// asks for, at the price of few waits for the disk: the file system is synced as a whole, which
// waits for what other programs wrote. Of a family the first appears last, when all others are
// durable, and not where one of them could not be made.
//
// It returns the entries of each family in its order, or why it does not have all of them: some of
// the others may be there. The reason is [errors.ErrUnsupported] where files must be synced one by
// one; then none is made.
func (w *Workspace) CreateAll(
	ctx context.Context, families [][]*NewConversation,
) ([][]Entry, []error) {
	b := &creations{
		w: w, all: make([][]*creation, len(families)), errs: make([]error, len(families)),
	}
	s, err := w.placeOf(families)
	if err == nil {
		b.s = s
		if b.volume = atomicfile.OpenVolume(s.root); b.volume == nil {
			err = errors.ErrUnsupported
		}
	}
	if err != nil {
		b.fail(err)
		return make([][]Entry, len(families)), b.errs
	}
	b.build(families)
	defer b.clear()
	b.sync()
	b.publish(ctx, func(family []*creation) []*creation { return family[1:] })
	b.publish(ctx, func(family []*creation) []*creation { return family[:1] })
	return b.entries(), b.errs
}

// placeOf returns the store of the conversations, all of which are in one.
func (w *Workspace) placeOf(families [][]*NewConversation) (*store, error) {
	for _, family := range families {
		for _, n := range family {
			if n.Local {
				return w.userLocal, w.needUserLocal()
			}
		}
	}
	return w.main, nil
}

// A creation is a conversation that is complete under a temporary name.
type creation struct {
	*Conversation
	content *keeper
	temp    string // "" once it has its name
}

// creations are conversations that are made together.
type creations struct {
	w      *Workspace
	s      *store
	volume *atomicfile.Volume
	all    [][]*creation
	errs   []error // of families
}

// fail ends what has not failed before.
func (b *creations) fail(err error) {
	for i := range b.errs {
		if b.errs[i] == nil {
			b.errs[i] = fmt.Errorf("create conversations: %w", err)
		}
	}
}

// options are those of files that the file system is synced for.
func (b *creations) options() atomicfile.Options {
	o := b.s.options()
	o.Volume = b.volume
	return o
}

// build writes the conversations, some at a time: they are encoded first.
func (b *creations) build(families [][]*NewConversation) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(len(families), runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(families); i = int(next.Add(1)) - 1 {
				b.errs[i] = b.buildFamily(i, families[i])
			}
		})
	}
	workers.Wait()
}

func (b *creations) buildFamily(i int, family []*NewConversation) error {
	for _, n := range family {
		c, err := b.w.built(b.s, n.ID, n, b.options())
		if err != nil {
			return fmt.Errorf("create conversation: %w", err)
		}
		b.all[i] = append(b.all[i], c)
	}
	return nil
}

// sync makes durable what was written.
func (b *creations) sync() {
	err := b.s.step(atomicfile.StepSyncVolume, ".")
	if err == nil {
		err = b.volume.Sync()
	}
	if err != nil {
		b.fail(fmt.Errorf("sync what was written: %w", err))
	}
}

// publish gives those conversations their names that part chooses of each family, and makes the
// names durable, all under their locks.
func (b *creations) publish(ctx context.Context, part func([]*creation) []*creation) {
	if err := ctx.Err(); err != nil {
		b.fail(err)
	}
	defer b.lock(part)()
	taken, err := b.w.ids()
	if err != nil {
		b.fail(err)
	}
	published := 0
	b.each(part, func(c *creation) error {
		if taken[c.ID] {
			return &fs.PathError{Op: "create", Path: c.Path, Err: fs.ErrExist}
		}
		if err := b.w.LeftOut(c.ID); err != nil {
			return err
		}
		published++
		return b.s.place(c, b.options())
	})
	if published == 0 {
		return
	}
	b.sync()
	b.each(part, func(c *creation) error { return c.content.verify(c.Conversation) })
}

// lock takes the locks of conversations, and returns what releases them.
func (b *creations) lock(part func([]*creation) []*creation) (unlock func()) {
	var unlocks []func() error
	b.each(part, func(c *creation) error {
		unlock, err := b.w.tryLock(c.ID)
		if err == nil {
			unlocks = append(unlocks, unlock)
		}
		return err
	})
	return func() {
		for _, unlock := range unlocks {
			if err := unlock(); err != nil {
				b.fail(err)
			}
		}
	}
}

// each does something with the chosen conversations of the families that have not failed.
func (b *creations) each(
	part func([]*creation) []*creation, do func(*creation) error,
) {
	for i, family := range b.all {
		if b.errs[i] != nil || len(family) == 0 {
			continue
		}
		for _, c := range part(family) {
			if err := do(c); err != nil {
				b.errs[i] = fmt.Errorf("create conversation: %w", err)
				break
			}
		}
	}
}

// clear removes what got no name.
func (b *creations) clear() {
	for _, family := range b.all {
		for _, c := range family {
			b.s.discard(c)
		}
	}
	_ = b.volume.Close() // what was to be synced is
}

func (b *creations) entries() [][]Entry {
	made := make([][]Entry, len(b.all))
	for i, family := range b.all {
		for _, c := range family {
			made[i] = append(made[i], c.Entry)
		}
	}
	return made
}

// ids returns the ids that a directory has, or something in the place of one.
func (w *Workspace) ids() (map[events.ID]bool, error) {
	taken := map[events.ID]bool{}
	for _, s := range w.stores() {
		for _, p := range []Partition{Live, Archive} {
			all, err := s.allNames(p)
			if err != nil {
				return nil, fmt.Errorf("list conversations: %w", err)
			}
			for _, name := range all {
				if id, ok := events.ParseDirname(name); ok {
					taken[id] = true
				}
			}
		}
	}
	return taken, nil
}
