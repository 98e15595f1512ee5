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
// with few waits for the disk: by the rule of [atomicfile.Volume], which the contents that they
// refer to may share. The first of a family is published last, after all others are durable, and
// only if all of them were created.
//
// It returns the entries of each family in its order, or the error why it is incomplete: some of
// its others may exist then. The error is [errors.ErrUnsupported] if files must be synced one by
// one; then none is created. The conversations are locked until settle is called, once, which makes
// them durable.
func (w *Workspace) CreateAll(
	ctx context.Context, families [][]*NewConversation,
) (made [][]Entry, errs []error, settle func() error) {
	b := &creations{
		w: w, all: make([][]*creation, len(families)), errs: make([]error, len(families)),
	}
	s, err := w.placeOf(families)
	if err == nil {
		b.s = s
		if b.volume = s.blobs.Volume(); b.volume == nil {
			err = errors.ErrUnsupported
		}
	}
	if err != nil {
		b.fail(err)
		return make([][]Entry, len(families)), b.errs, b.settle
	}
	b.build(families)
	defer b.clear()
	b.publish(ctx, func(family []*creation) []*creation { return family[1:] })
	b.publish(ctx, func(family []*creation) []*creation { return family[:1] })
	return b.entries(), b.errs, b.settle
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
	w       *Workspace
	s       *store
	volume  *atomicfile.Volume
	all     [][]*creation
	errs    []error // of families
	unlocks []func() error

	hasNamed bool // conversations were published, the last one before the following moment
	named    atomicfile.Mark
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

// publish publishes the conversations of each family that part selects, after everything that was
// done before is durable. It leaves them locked.
func (b *creations) publish(ctx context.Context, part func([]*creation) []*creation) {
	if !b.has(part) {
		return
	}
	err := ctx.Err()
	if err == nil {
		err = b.volume.Settle(b.volume.Mark())
	}
	if err != nil {
		b.fail(err)
	}
	b.each(part, b.lock)
	taken, err := b.w.ids()
	if err != nil {
		b.fail(err)
	}
	b.each(part, func(c *creation) error {
		if taken[c.ID] {
			return &fs.PathError{Op: "create", Path: c.Path, Err: fs.ErrExist}
		}
		if err := b.w.LeftOut(c.ID); err != nil {
			return err
		}
		b.hasNamed = true
		return b.s.place(c, b.options())
	})
	b.named = b.volume.Mark()
	b.each(part, func(c *creation) error { return c.content.verify(c.Conversation) })
}

// settle makes the conversations durable, unless the volume was synced since, and unlocks them.
func (b *creations) settle() (err error) {
	if b.hasNamed {
		err = b.volume.Settle(b.named)
	}
	errs := make([]error, len(b.unlocks))
	parallel.Each(len(b.unlocks), unlocksAtOnce, func(i int) { errs[i] = b.unlocks[i]() })
	return errors.Join(err, errors.Join(errs...))
}

// unlocksAtOnce is how many conversations are unlocked at a time. Lock files were synced together
// with the conversations, so removing one can wait for the disk.
const unlocksAtOnce = 16

func (b *creations) lock(c *creation) error {
	unlock, err := b.w.tryLock(c.ID)
	if err == nil {
		b.unlocks = append(b.unlocks, unlock)
	}
	return err
}

// has reports whether a part of the families that have not failed has conversations.
func (b *creations) has(part func([]*creation) []*creation) (has bool) {
	b.each(part, func(*creation) error { has = true; return nil })
	return has
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
