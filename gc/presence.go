package gc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/refs"
)

// A presence knows which blobs the stores of trees have.
type presence struct {
	m      *marker
	stores map[gitint.OID][]gitint.OID // the fan-out directories of a store
	has    map[gitint.OID][]int32      // the blobs of a fan-out directory
}

// load reads the stores. Few of the 256 fan-out directories of a store change from one commit to
// the next, and the cache knows those that it has seen.
func (s *presence) load(ctx context.Context, stores []gitint.OID) error {
	var fanouts []gitint.OID
	names := make(map[gitint.OID]string)
	err := s.m.trees.repo.ReadTrees(ctx, stores, func(i int, t gitint.TreeData) error {
		t.Entries(func(e gitint.Entry) {
			if e.Mode != gitint.ModeDir {
				return
			}
			id := e.OID
			s.stores[stores[i]] = append(s.stores[stores[i]], id)
			if _, ok := names[id]; !ok {
				names[id] = e.Path
				fanouts = append(fanouts, id)
			}
		})
		return nil
	})
	if err != nil {
		return err
	}
	var unknown []gitint.OID
	for _, id := range fanouts {
		found, ok := s.m.trees.cache.Blobs().Of(id)
		below, through := s.m.trees.cache.Trees().Of(id)
		if !ok || !through {
			unknown = append(unknown, id)
			continue
		}
		s.m.trees.uses(append(below, id)...)
		s.put(id, found)
	}
	return s.read(ctx, unknown, names)
}

func (s *presence) put(fanout gitint.OID, found []refs.BlobFile) {
	numbers := lists.Map(found, func(b refs.BlobFile) int32 { return s.m.hashes.add(b.Hash) })
	s.has[fanout] = numbers
}

func (s *presence) read(
	ctx context.Context, fanouts []gitint.OID, names map[gitint.OID]string,
) error {
	read := make(chan []fanoutRead, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for group := range read {
			for _, f := range group {
				s.learn(f)
			}
		}
	}()
	var err error
	for ids := range slices.Chunk(fanouts, fanoutsAtOnce) {
		var group []fanoutRead
		all := lists.Map(ids, func(id gitint.OID) fanout { return fanout{names[id], id} })
		if group, err = s.m.trees.readFanouts(ctx, all, nil); err != nil {
			break
		}
		read <- group
	}
	close(read)
	<-done
	return err
}

// fanoutsAtOnce is how many fan-out directories are read while earlier ones are recorded: four
// stores.
const fanoutsAtOnce = 1 << 10

func (s *presence) learn(f fanoutRead) {
	var found []refs.BlobFile
	var boards []gitint.OID
	for _, b := range f.boards {
		found, boards = append(found, b.files...), append(boards, b.id)
	}
	s.put(f.id, found)
	if f.foreign {
		return // the caches only record trees that have blobs and nothing else
	}
	s.m.trees.cache.Blobs().Set(f.id, found)
	s.m.trees.cache.Trees().Set(f.id, boards)
}

// startPresence reads the stores of the tips, while history is searched. The numbers of contents
// must not be changed meanwhile.
func (m *marker) startPresence(ctx context.Context) (wait func() (*presence, error)) {
	s := &presence{
		m: m, stores: make(map[gitint.OID][]gitint.OID),
		has: make(map[gitint.OID][]int32),
	}
	var stores []gitint.OID
	seen := make(map[gitint.OID]bool)
	for _, t := range m.tips {
		if t.complete = t.isComplete(m.trees.cache); t.complete {
			// A part missing in its store hides nothing: all references of a tip are kept.
			m.trees.uses(t.place.Blobs)
			continue
		}
		if id := t.place.Blobs; t.kind == tipRef && !id.IsZero() && !seen[id] {
			seen[id] = true
			stores = append(stores, id)
		}
	}
	done := make(chan error, 1)
	go func() { done <- s.load(ctx, stores) }()
	return func() (*presence, error) { return s, <-done }
}

// missing returns the references of tips whose content is neither there nor in the collected store.
func (m *marker) missing(s *presence, here *hashes) ([]Obstacle, error) {
	c := missingCheck{presence: s, here: make([]bool, len(m.hashes.all))}
	for i, h := range m.hashes.all {
		_, c.here[i] = here.find(h)
	}
	c.in, c.staged = make([]int, len(m.hashes.all)), leftOut(m.tips, m.lazy)
	for n, t := range m.tips {
		if err := c.tip(n+1, t); err != nil {
			return nil, err
		}
	}
	return c.found, nil
}

// leftOut returns the blobs that the working trees of a lazy clone leave out, but an index has.
func leftOut(tips []*tip, lazy bool) map[int32]struct{} {
	all := make(map[int32]struct{})
	for _, t := range tips {
		if lazy && t.kind == tipIndex {
			maps.Copy(all, t.staged)
		}
	}
	return all
}

// isComplete reports whether a tree is known to have all contents that it refers to.
func (t *tip) isComplete(cache *refs.Cache) bool {
	return t.kind == tipRef && cache.IsComplete(t.place.Conversations, t.place.Blobs)
}

type missingCheck struct {
	presence *presence
	here     []bool             // in the store that is collected
	in       []int              // the last tip that has it
	staged   map[int32]struct{} // left out of working trees
	found    []Obstacle
}

func (c *missingCheck) tip(n int, t *tip) error {
	switch {
	case t.complete, t.place.Kind != refs.Workspace, t.kind == tipOther:
		return nil
	case t.kind == tipWorkTree && t.store == "":
		return nil // user-local copies
	}
	k := tipCheck{missingCheck: c, n: n, tip: t}
	k.own()
	if t.kind == tipWorkTree {
		for _, f := range t.disk {
			if err := k.check(f.mentions, func() string { return f.path }); err != nil {
				return err
			}
		}
		return nil
	}
	m := c.presence.m
	var failed error
	m.trees.eachDocument(t, func(d document, name func() string) {
		failed = errors.Join(failed, k.check(m.references.known[d], name))
	})
	if t.kind == tipRef && failed == nil && !k.lacks {
		m.trees.cache.SetComplete(t.place.Conversations, t.place.Blobs)
	}
	return failed
}

// A tipCheck looks at the references of one tip.
type tipCheck struct {
	*missingCheck
	n     int // the number of the tip
	tip   *tip
	lacks bool // it refers to content that it does not have itself
}

// own marks the contents that the tip has itself.
func (k *tipCheck) own() {
	switch k.tip.kind {
	case tipWorkTree:
		for h := range k.staged {
			k.in[h] = k.n
		}
	case tipIndex:
		for h := range k.tip.staged {
			k.in[h] = k.n
		}
	case tipRef:
		for _, fanout := range k.presence.stores[k.tip.place.Blobs] {
			for _, h := range k.presence.has[fanout] {
				k.in[h] = k.n
			}
		}
	}
}

// check reports the references of a file for which there is no content, each once.
func (k *tipCheck) check(found mentions, name func() string) error {
	for _, h := range found.sure {
		if k.in[h] == k.n {
			continue
		}
		k.lacks = true
		if k.here[h] {
			continue
		}
		k.in[h] = k.n
		hash := k.presence.m.hashes.all[h]
		there, err := k.isThere(k.tip, hash)
		if err != nil {
			return err
		}
		if !there {
			k.found = append(k.found, Obstacle{
				Reason: ReasonMissing, Root: k.tip.title, Path: name(),
				Detail: fmt.Sprintf("blob %s is missing already", hash),
			})
		}
	}
	return nil
}

// isThere looks again, since the store was listed before the tips were read.
func (c *missingCheck) isThere(t *tip, h blobs.Hash) (bool, error) {
	_, err := c.presence.m.o.blobs().Stat(h)
	if errors.Is(err, os.ErrNotExist) {
		return t.onDisk(h)
	}
	return err == nil, err
}

// onDisk reports whether the store of a working tree has a content.
func (t *tip) onDisk(h blobs.Hash) (bool, error) {
	if t.store == "" {
		return false, nil
	}
	_, err := os.Lstat(filepath.Join(t.store, filepath.FromSlash(h.Path())))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
