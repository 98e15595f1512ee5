package gc

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"path/filepath"
	"slices"
	"sync"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/regular"
)

// A historyCache has the results of the last search of history. Commits never change, so only new
// ones must be read. It is a file in the cache directory and can be deleted at any time.
type historyCache struct {
	// Roots lead to the commits, and always will: for the same roots git need not list them again.
	Roots      []string // sorted
	Commits    []string // in git's order
	Candidates []memoCandidate
	// Objects were read for the result, which is valid while they exist.
	Objects []string
}

type memoCandidate struct {
	Hash       blobs.Hash
	Needed     bool
	By         string
	Carriers   []string
	LastCommit string
	LastPath   string
}

// memoName includes the version of the file format.
const (
	memoFamily = "gc-history-"
	memoName   = memoFamily + "3"
)

// lastHistoryCache starts to read the cache and returns a function that waits for it.
func (o *Options) lastHistoryCache() func() historyCache {
	if o.Repo == nil {
		return func() historyCache { return historyCache{} }
	}
	dir, done := o.historyCacheDir(), make(chan historyCache, 1)
	go func() { done <- readHistoryCache(dir) }()
	return sync.OnceValue(func() historyCache { return <-done })
}

func (o *Options) historyCacheDir() string { return filepath.Join(o.Repo.Dir(), "cache") }

// readHistoryCache returns the zero value for an absent or damaged cache.
func readHistoryCache(dir string) (m historyCache) {
	data, err := regular.ReadFile(filepath.Join(dir, memoName), regular.MaxOther)
	if err != nil || len(data) < sha256.Size {
		return historyCache{}
	}
	sum := sha256.Sum256(data[sha256.Size:])
	if !bytes.Equal(sum[:], data[:sha256.Size]) ||
		gob.NewDecoder(bytes.NewReader(data[sha256.Size:])).Decode(&m) != nil {
		return historyCache{}
	}
	return m
}

// write replaces the cache. A failure only costs time later.
func (m historyCache) write(dir string) {
	var body bytes.Buffer
	if gob.NewEncoder(&body).Encode(m) != nil {
		return
	}
	sum := sha256.Sum256(body.Bytes())
	if atomicfile.MkdirPrivate(dir) != nil {
		return
	}
	err := atomicfile.WriteIn(dir, memoName, append(sum[:], body.Bytes()...),
		atomicfile.Options{TempDir: "tmp", Private: true, NoSync: true})
	if err == nil {
		refs.RemoveOthers(dir, memoFamily, memoName, memoName)
	}
}

// usable reports whether the cache covers the candidates and only commits that are still reachable.
func (m historyCache) usable(h *history, commits map[gitint.OID]bool) bool {
	if len(m.Commits) == 0 {
		return false
	}
	for _, id := range m.Commits {
		if !commits[parsed(id)] {
			return false
		}
	}
	known := lists.Set(lists.Map(m.Candidates, func(c memoCandidate) blobs.Hash { return c.Hash }))
	return !slices.ContainsFunc(h.references.hashes.all, func(c blobs.Hash) bool {
		return !known[c]
	})
}

// parsed returns the zero id, which names nothing, for an invalid id.
func parsed(id string) gitint.OID {
	known, err := gitint.ParseOID(id)
	if err != nil {
		return gitint.OID{}
	}
	return known
}

// apply adds the cached results to those of the new commits.
func (m historyCache) apply(h *history) {
	for _, c := range m.Candidates {
		n, ok := h.references.hashes.find(c.Hash)
		if !ok {
			continue
		}
		v := &h.found[n]
		v.needed = v.needed || c.Needed
		if v.by.IsZero() {
			v.by = parsed(c.By)
		}
		for _, id := range c.Carriers {
			if v.carriers == nil {
				v.carriers = make(map[gitint.OID]struct{}, 1)
			}
			v.carriers[parsed(id)] = struct{}{}
		}
		if h.last[n] == nil && c.LastPath != "" {
			h.last[n] = &lastMention{parsed(c.LastCommit), c.LastPath}
		}
	}
	for _, id := range m.Objects {
		h.trees.uses(parsed(id))
	}
}

// remember returns the next cache. It is called before anything that may change is read.
func (h *history) remember(commits []gitint.OID, before historyCache) historyCache {
	m := historyCache{Objects: slices.Clip(before.Objects)}
	m.Commits = append(m.Commits, lists.Map(commits, gitint.OID.String)...)
	for n, hash := range h.references.hashes.all {
		v := h.found[n]
		c := memoCandidate{Hash: hash, Needed: v.needed}
		if !v.by.IsZero() {
			c.By = v.by.String()
		}
		for id := range v.carriers {
			c.Carriers = append(c.Carriers, id.String())
		}
		if last := h.last[n]; last != nil {
			c.LastCommit, c.LastPath = last.commit.String(), last.path
		}
		m.Candidates = append(m.Candidates, c)
	}
	seen := make(map[gitint.OID]struct{})
	for _, id := range h.boards {
		seen[id] = struct{}{}
	}
	for _, s := range h.steps {
		seen[s.place.Conversations], seen[s.place.Blobs] = struct{}{}, struct{}{}
		for _, id := range s.place.Through {
			seen[id] = struct{}{}
		}
		for _, u := range s.fresh {
			seen[u.id] = struct{}{}
			for _, f := range h.trees.files(u) {
				seen[f.Object] = struct{}{}
			}
		}
	}
	for q := range h.questions {
		seen[q.fanout.id] = struct{}{}
	}
	delete(seen, gitint.OID{})
	for id := range seen {
		m.Objects = append(m.Objects, id.String())
	}
	slices.Sort(m.Objects[len(before.Objects):])
	return m
}

// markNew is mark for everything reachable from the roots, with the cache.
func (h *history) markNew(ctx context.Context, roots []gitint.OID, last historyCache) error {
	names := lists.Map(roots, gitint.OID.String)
	slices.Sort(names)
	if err := h.listCommits(ctx, roots, slices.Equal(names, last.Roots), last); err != nil {
		return err
	}
	known := lists.Set(h.commits)
	if !last.usable(h, known) {
		last = historyCache{}
	}
	for _, id := range last.Commits {
		delete(known, parsed(id))
	}
	fresh := slices.DeleteFunc(slices.Clone(h.commits), func(id gitint.OID) bool {
		return !known[id]
	})
	if err := h.mark(ctx, fresh); err != nil {
		return err
	}
	last.apply(h)
	changed := len(fresh) > 0 || !slices.Equal(names, last.Roots)
	if h.o.Cache != nil && len(h.damaged) == 0 && changed {
		next := h.remember(h.commits, last)
		next.Roots = names
		next.write(h.o.historyCacheDir())
	}
	return h.judgeCarriers(ctx)
}

// listCommits lists all commits reachable from the roots. If the roots are unchanged, so is the
// list, as long as the objects exist, which is checked later.
func (h *history) listCommits(
	ctx context.Context, roots []gitint.OID, same bool, last historyCache,
) (err error) {
	if !same || len(last.Commits) == 0 {
		h.commits, err = h.o.Repo.Ancestors(ctx, roots)
		return err
	}
	h.commits = make([]gitint.OID, len(last.Commits))
	for i, id := range last.Commits {
		h.commits[i] = parsed(id)
		h.trees.uses(parsed(id))
	}
	return nil
}
