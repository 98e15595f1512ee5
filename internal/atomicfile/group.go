package atomicfile

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"sync"

	"github.com/git-jp/git-jp/internal/parallel"
)

// groupSyncs is how many files of a group are synced at the same time. Syncing waits for the disk,
// not for a processor: journaling file systems write the records of all waiting processes together.
const groupSyncs = 16

// groupsAtOnce is how many groups are published at the same time.
const groupsAtOnce = 4

// A Group writes many files with few waits for the disk: syncs overlap with each other and with the
// caller's work, and each directory is synced once. Nothing is visible before [Group.Commit], which
// publishes each file as [Write] does, only after it is durable. The files are independent of each
// other; a group that fails or crashes half-way has published some of them, each complete. Add is
// safe for concurrent use, but not concurrently with Commit or Discard.
type Group struct {
	w     writer
	slots chan struct{} // limits open files
	wg    sync.WaitGroup

	mu    sync.Mutex // guards the following
	items []item
	last  Mark  // when the last of them was written, for the volume
	err   error // the first failure; a group that failed publishes nothing
}

// item is a durable temporary that is not published yet.
type item struct{ temp, name string }

// NewGroup returns an empty group. The caller must end it with Commit or Discard.
func NewGroup(root *os.Root, opts Options) *Group {
	return &Group{w: writer{root: root, opts: opts}, slots: make(chan struct{}, groupSyncs)}
}

// Add writes data to a temporary that will become name. A later Add or Commit may return its error.
func (g *Group) Add(name string, data []byte) error {
	if err := g.add(name, data); err != nil {
		g.fail(failed("write", g.w.root, name, err))
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
	err = t.fill(content{1: data})
	g.wg.Go(func() {
		defer func() { <-g.slots }()
		if err := t.finish(); err != nil {
			g.fail(failed("write", g.w.root, name, err))
		}
		g.wrote()
	})
	return err
}

func (g *Group) wrote() {
	now := g.w.opts.Volume.Mark()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last = max(g.last, now)
}

func (g *Group) fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil {
		g.err = err
	}
}

// Commit waits until every file is durable and publishes them. Their names are durable too, or with
// a [Volume] when it is settled. On an error it removes the unpublished files. The group is empty
// afterwards and may be used again.
func (g *Group) Commit() error { return CommitAll([]*Group{g})[0] }

// CommitAll commits groups of one volume, or of none, with at most one sync, and returns the
// error of each. A group that fails does not stop the others.
func CommitAll(groups []*Group) []error {
	errs, items := make([]error, len(groups)), make([][]item, len(groups))
	for i, g := range groups {
		items[i], errs[i] = g.take()
	}
	settleAll(groups, items, errs)
	publishAll(groups, items, errs)
	return errs
}

// publishAll publishes the groups that have not failed, several at a time: creating directories
// takes the most time.
func publishAll(groups []*Group, items [][]item, errs []error) {
	parallel.Each(len(groups), groupsAtOnce, func(i int) {
		if errs[i] == nil {
			errs[i] = groups[i].publish(items[i])
			return
		}
		groups[i].remove(items[i])
		items[i] = nil
	})
}

// settleAll makes the bytes of groups durable that share a volume.
func settleAll(groups []*Group, items [][]item, errs []error) {
	var volume *Volume
	var last Mark
	for i, g := range groups {
		if len(items[i]) > 0 && g.w.opts.Volume != nil {
			volume, last = g.w.opts.Volume, max(last, g.last)
		}
	}
	if err := volume.Settle(last); err != nil {
		for i := range errs {
			errs[i] = cmp.Or(errs[i], err)
		}
	}
}

// take waits until all added files are written, and empties the group.
func (g *Group) take() ([]item, error) {
	g.wg.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	items, err := g.items, g.err
	g.items, g.err = nil, nil
	return items, err
}

func (g *Group) publish(items []item) error {
	var dirs []string
	made := map[string]bool{}
	for i, it := range items {
		changed, err := g.publishOne(it, made)
		dirs = append(dirs, changed...)
		if err != nil {
			g.remove(items[i:])
			return errors.Join(failed("write", g.w.root, it.name, err), g.syncDirs(dirs))
		}
	}
	return g.syncDirs(dirs)
}

// publishOne renames a temporary to its name. It creates the directory first, unless made has it:
// usually it is missing, and a failed rename costs more than a mkdir.
func (g *Group) publishOne(it item, made map[string]bool) (changed []string, err error) {
	dir := path.Dir(it.name)
	if !made[dir] {
		made[dir] = true
		if changed, err = g.w.mkdirAll(dir); err != nil {
			return changed, err
		}
	}
	renamed, err := g.w.rename(it.temp, it.name)
	return append(changed, renamed...), err
}

// syncDirs syncs each of dirs once, several at a time.
func (g *Group) syncDirs(dirs []string) error {
	if !g.w.syncs() {
		return nil
	}
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
	items, _ := g.take()
	g.remove(items)
}

func (g *Group) remove(items []item) {
	for _, it := range items {
		_ = g.w.root.Remove(it.temp)
	}
}
