package spare

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/secrets"
)

// A Finder finds the blobs of a lazy clone that a conversation of the working tree refers to, and
// that have no file and are in neither HEAD nor the index, such as after a reset. It may be used by
// several goroutines.
type Finder struct {
	repo *gitint.Repo

	mu     sync.Mutex
	recent []*gitint.Tree            // nil until they are needed
	stores map[string][]*gitint.Tree // those of them whose stores differ
}

// NewFinder returns a finder. It reads nothing yet.
func NewFinder(repo *gitint.Repo) *Finder {
	return &Finder{repo: repo, stores: map[string][]*gitint.Tree{}}
}

// Find looks for a blob by its path. If it was here, as a copy or in a commit where HEAD or a
// remote-tracking branch is or HEAD was, it is a file again, with a copy, and depends on no reflog:
// then the object is zero. Otherwise it is one that a remote has to send.
func (f *Finder) Find(ctx context.Context, name string) (id gitint.OID, ok bool) {
	at, ok := f.placeOf(name)
	if !ok {
		return gitint.OID{}, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.restore(at) {
		return gitint.OID{}, true
	}
	ok = false
	for _, tip := range f.tipsOf(ctx, at.store) {
		is, named := tip.OID(name)
		if !named {
			continue
		}
		gz, err := f.repo.ReadObject(ctx, is, 0)
		if err != nil {
			id, ok = is, true // another commit may have an object that is here
			continue
		}
		if _, err := blobs.DecodeHash(gz, at.hash); err != nil {
			continue
		}
		if put(at.copies(), at.hash, gz) == nil && put(at.tree(), at.hash, gz) == nil {
			return gitint.OID{}, true
		}
		return is, true
	}
	return id, ok
}

// Restore makes a blob a file again if it has a copy. It is for one whose object is missing.
func (f *Finder) Restore(name string) bool {
	at, ok := f.placeOf(name)
	f.mu.Lock()
	defer f.mu.Unlock()
	return ok && f.restore(at)
}

func (*Finder) restore(at place) bool {
	copies := at.copies()
	defer copies.Close() //nolint:errcheck // it was only read
	gz, ok := read(copies, at.hash)
	return ok && put(at.tree(), at.hash, gz) == nil
}

// A place is where a blob is, and its copy.
type place struct {
	repo  *gitint.Repo
	store string
	hash  blobs.Hash
}

func (f *Finder) placeOf(name string) (place, bool) {
	dir, rel, _ := strings.Cut(name, blobs.Dir+"/")
	h, ok := blobs.ParsePath(rel)
	return place{f.repo, dir + blobs.Dir, h}, ok
}

func (p place) copies() *blobs.Store { return copiesIn(p.repo.GitDir(), p.store) }

func (p place) tree() *blobs.Store {
	return open(filepath.Join(p.repo.Root(), filepath.FromSlash(p.store)))
}

// File returns the bytes of a blob's file after Find has put it back.
func (f *Finder) File(name string) ([]byte, error) {
	return regular.ReadFile(filepath.Join(f.repo.Root(), filepath.FromSlash(name)),
		regular.Limits{}.Of(name))
}

// tipsOf returns the recent commits that have a store, those with the same one once, and every
// redaction that the working tree has: content of an earlier commit may be what was redacted. What
// cannot be read has nothing to find.
func (f *Finder) tipsOf(ctx context.Context, store string) []*gitint.Tree {
	if tips, ok := f.stores[store]; ok {
		return tips
	}
	if f.recent == nil {
		ids, _ := f.repo.Recent(ctx)
		f.recent = make([]*gitint.Tree, 0, len(ids))
		for _, id := range ids {
			if tip, err := f.repo.Tree(ctx, id.String()); err == nil {
				f.recent = append(f.recent, tip)
			}
		}
	}
	redacted, err := f.redactions(store)
	if err != nil {
		return nil
	}
	seen := map[gitint.OID]bool{}
	var tips []*gitint.Tree
	for _, tip := range f.recent {
		at := storeOf(tip, store)
		if !at.IsZero() && !seen[at] && hasAll(tip, redacted) {
			seen[at], tips = true, append(tips, tip)
		}
	}
	f.stores[store] = tips
	return tips
}

// redactions returns the paths of the entries that the working tree has beside a store.
func (f *Finder) redactions(store string) (names []string, err error) {
	dir := path.Join(path.Dir(store), secrets.RedactedDir)
	entries, err := fs.ReadDir(regular.Dir(f.repo.Root()), dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		names = append(names, path.Join(dir, e.Name()))
	}
	return names, err
}

// hasAll reports whether a commit has all files of a directory.
func hasAll(tip *gitint.Tree, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		_, ok := tip.OID(name)
		return !ok
	})
}

// storeOf returns the tree of a commit's store, zero if there is none.
func storeOf(tip *gitint.Tree, store string) gitint.OID {
	all, err := tip.Children(strings.TrimSuffix(store, "/"+blobs.Dir))
	if err != nil {
		return gitint.OID{}
	}
	for _, e := range all {
		if e.Path == store {
			return e.OID
		}
	}
	return gitint.OID{}
}

// put writes the bytes of a blob's file, and closes the store.
func put(to *blobs.Store, h blobs.Hash, gz []byte) error {
	defer to.Close() //nolint:errcheck // what was written is complete
	batch := to.NewBatch()
	defer batch.Discard()
	if err := batch.WriteFile(h, gz); err != nil {
		return err
	}
	return batch.Commit()
}
