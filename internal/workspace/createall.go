package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/parallel"
)

// CreateAll creates conversations in one store as [Workspace.Create] does, each with its given ID,
// with few waits for the disk: it syncs the file system as a whole, which also waits for writes of
// other programs. The first of a family is published last, after all others are durable, and only
// if all of them were created.
//
// It returns the entries of each family in its order, or the error why it is incomplete: some of
// its others may exist then. The error is [errors.ErrUnsupported] if files must be synced one by
// one; then none is created.
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

// placeOf returns the store of the conversations, which must be the same for all.
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
	temp    string // "" once it is published
}

// creations are conversations that are created together.
type creations struct {
	w      *Workspace
	s      *store
	volume *atomicfile.Volume
	all    [][]*creation
	errs   []error // of families
}

// fail sets the error of the families that have none.
func (b *creations) fail(err error) {
	for i := range b.errs {
		if b.errs[i] == nil {
			b.errs[i] = fmt.Errorf("create conversations: %w", err)
		}
	}
}

// options returns options without a sync of each file: the volume is synced instead.
func (b *creations) options() atomicfile.Options {
	o := b.s.options()
	o.Volume = b.volume
	return o
}

// build writes the conversations, several at a time: they are encoded first.
func (b *creations) build(families [][]*NewConversation) {
	parallel.Each(len(families), runtime.GOMAXPROCS(0), func(i int) {
		b.errs[i] = b.buildFamily(i, families[i])
	})
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

// sync makes everything durable that was written.
func (b *creations) sync() {
	err := b.s.step(atomicfile.StepSyncVolume, ".")
	if err == nil {
		err = b.volume.Sync()
	}
	if err != nil {
		b.fail(fmt.Errorf("sync what was written: %w", err))
	}
}

// publish publishes the conversations of each family that part selects, and makes their names
// durable, under their locks.
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

// unlocksAtOnce is how many conversations are unlocked at a time. Lock files were synced together
// with the conversations, so removing one can wait for the disk.
const unlocksAtOnce = 16

// lock locks conversations, and returns a function that unlocks them.
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
		errs := make([]error, len(unlocks))
		parallel.Each(len(unlocks), unlocksAtOnce, func(i int) { errs[i] = unlocks[i]() })
		if err := errors.Join(errs...); err != nil {
			b.fail(err)
		}
	}
}

// each calls do for the selected conversations of the families that have not failed.
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

// clear removes what was not published.
func (b *creations) clear() {
	for _, family := range b.all {
		for _, c := range family {
			b.s.discard(c)
		}
	}
	_ = b.volume.Close() // it was synced before
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

// ids returns the ids that are taken by a directory, or by anything else with such a name.
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
