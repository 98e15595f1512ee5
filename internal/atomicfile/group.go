package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
)

// groupSyncs is how many files of a group are synced at the same time. Syncing is
// waiting for the disk, not for a processor: journaling file systems write the
// records of all who wait in one go.
const groupSyncs = 16

// A Group writes many files at the price of few waits for the disk: syncs overlap
// with each other and with the caller's work, and each directory is synced once.
// Nothing is visible before [Group.Commit], which publishes each file as [Write]
// does: only after it is durable. The files are independent of each other; a group
// that fails or crashes half-way has published some of them, all whole. Add is safe
// for concurrent use, but not beside Commit or Discard.
type Group struct {
	w     writer
	slots chan struct{} // limits open files
	wg    sync.WaitGroup

	mu    sync.Mutex // guards the following
	items []item
	err   error // the first failure; a group that failed publishes nothing
}

// item is a durable temporary that waits for its name.
type item struct{ temp, name string }

// NewGroup returns an empty group. Every group ends with Commit or Discard.
func NewGroup(root *os.Root, opts Options) *Group {
	return &Group{w: writer{root: root, opts: opts}, slots: make(chan struct{}, groupSyncs)}
}

// Add writes data to a temporary that will become name. An error may also show up at
// a later Add or at Commit.
func (g *Group) Add(name string, data []byte) error {
	if err := g.add(name, data); err != nil {
		g.fail(fmt.Errorf("write %q: %w", name, err))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

func (g *Group) add(name string, data []byte) error {
	g.slots <- struct{}{}
	t, err := g.w.createTemp(name)
	if err != nil {
		<-g.slots
		return err
	}
	g.mu.Lock()
	g.items = append(g.items, item{temp: t.name, name: name})
	g.mu.Unlock()
	err = t.fill(data)
	g.wg.Go(func() {
		defer func() { <-g.slots }()
		if err := t.finish(); err != nil {
			g.fail(fmt.Errorf("write %q: %w", name, err))
		}
	})
	return err
}

func (g *Group) fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil {
		g.err = err
	}
}

// Commit waits until every file is durable, gives them their names and makes those
// durable. On an error the files that have no name yet are removed. The group is empty
// afterwards and may be used again.
func (g *Group) Commit() error {
	g.wg.Wait()
	g.mu.Lock()
	items, err := g.items, g.err
	g.items, g.err = nil, nil
	g.mu.Unlock()
	if err != nil {
		g.remove(items)
		return err
	}
	return g.publish(items)
}

func (g *Group) publish(items []item) error {
	var dirs []string
	for i, it := range items {
		changed, err := g.w.rename(it.temp, it.name)
		if err != nil {
			g.remove(items[i:])
			return errors.Join(fmt.Errorf("write %q: %w", it.name, err), g.syncDirs(dirs))
		}
		dirs = append(dirs, changed...)
	}
	return g.syncDirs(dirs)
}

// syncDirs syncs each of dirs once, several at a time.
func (g *Group) syncDirs(dirs []string) error {
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		g.slots <- struct{}{}
		g.wg.Go(func() {
			defer func() { <-g.slots }()
			if err := g.w.syncDir(dir); err != nil {
				g.fail(fmt.Errorf("sync directory %q: %w", dir, err))
			}
		})
	}
	g.wg.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	err := g.err
	g.err = nil
	return err
}

// Discard removes everything that was added since the last Commit.
func (g *Group) Discard() {
	g.wg.Wait()
	g.mu.Lock()
	items := g.items
	g.items, g.err = nil, nil
	g.mu.Unlock()
	g.remove(items)
}

func (g *Group) remove(items []item) {
	for _, it := range items {
		_ = g.w.root.Remove(it.temp)
	}
}
