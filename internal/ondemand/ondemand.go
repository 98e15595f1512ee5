package ondemand

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"sync"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/spare"
)

// ErrOffline reports that nothing was fetched because the user forbids it.
var ErrOffline = errors.New("the command is offline")

// A Source reads the blobs of one store from git: as HEAD and the index name them, else as a
// [spare.Finder] finds them, and if they are not here, from the remote that has promised them. It
// may be used by several goroutines.
type Source struct {
	repo *gitint.Repo
	dir  string // of the store, from the root of the working tree

	mu       sync.Mutex
	head     snapshot
	index    snapshot
	finder   *spare.Finder
	expected map[blobs.Hash]int64   // sizes of blobs that may be read and were not requested
	failed   map[blobs.Hash]absence // blobs that were requested and did not arrive
}

// An absence is content that did not arrive.
type absence struct {
	size int64
	err  error
}

// snapshot is a snapshot of the repository that is opened when it is needed.
type snapshot func() (gitint.Snapshot, error)

// New returns the source of the blobs of the store at dir, a slash path from the root of the
// working tree.
func New(repo *gitint.Repo, dir string) *Source {
	s := &Source{
		repo: repo, dir: dir, finder: spare.NewFinder(repo),
		expected: map[blobs.Hash]int64{}, failed: map[blobs.Hash]absence{},
	}
	s.head = sync.OnceValues(func() (gitint.Snapshot, error) {
		tree, err := repo.Tree(context.Background(), "HEAD")
		if errors.Is(err, gitint.ErrUnknownRevision) {
			return nil, nil
		}
		return tree, err
	})
	s.index = sync.OnceValues(func() (gitint.Snapshot, error) {
		return repo.Index(context.Background())
	})
	return s
}

// object returns git's object at the path of a blob, zero if it is a file again. HEAD is searched
// first: it takes a few small trees, and the index of a large store has many entries.
func (s *Source) object(h blobs.Hash) (gitint.OID, bool, error) {
	name := path.Join(s.dir, h.Path())
	for _, open := range []snapshot{s.head, s.index} {
		snap, err := open()
		if err != nil {
			return gitint.OID{}, false, err
		}
		if snap == nil {
			continue
		}
		if id, ok := snap.OID(name); ok {
			return id, true, nil
		}
	}
	id, ok := s.finder.Find(context.Background(), name)
	return id, ok, nil
}

// Has implements [blobs.Elsewhere].
func (s *Source) Has(h blobs.Hash) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok, err := s.object(h)
	return ok && err == nil
}

// Fetches reports whether the clone may lack objects that a remote has.
func (s *Source) Fetches() bool {
	partial, err := s.repo.Partial(context.Background())
	return partial || err != nil
}

// Expect notes blobs that may be read soon. A failed one is not tried again.
func (s *Source) Expect(refs iter.Seq[blobs.Ref]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ref := range refs {
		if _, failed := s.failed[ref.Hash]; !failed {
			s.expected[ref.Hash] = ref.Size
		}
	}
}

// Only replaces the expected blobs by these.
func (s *Source) Only(refs iter.Seq[blobs.Ref]) {
	s.mu.Lock()
	clear(s.expected)
	s.mu.Unlock()
	s.Expect(refs)
}

// File implements [blobs.Elsewhere].
func (s *Source) File(ref blobs.Ref) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok, err := s.object(ref.Hash)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("blob %s: %w", ref.Hash, fs.ErrNotExist)
	}
	name := path.Join(s.dir, ref.Hash.Path())
	if id.IsZero() {
		return s.finder.File(name)
	}
	ctx := context.Background() // ending the command ends git too
	gz, err := s.repo.ReadObject(ctx, id, 0)
	if missing, ok := errors.AsType[*gitint.MissingObjectError](err); !ok || !missing.Promised {
		return gz, err
	}
	if s.finder.Restore(name) {
		return s.finder.File(name)
	}
	if err := s.bring(ctx, ref); err != nil {
		return nil, &blobs.NotHereError{Ref: ref, Err: err}
	}
	return s.repo.ReadObject(ctx, id, 0)
}

// bring fetches a blob, and all that are expected with it.
func (s *Source) bring(ctx context.Context, ref blobs.Ref) error {
	if gone, ok := s.failed[ref.Hash]; ok {
		return gone.err
	}
	s.expected[ref.Hash] = ref.Size
	ids, bytes, err := s.missing(ctx)
	if err == nil {
		err = s.repo.Bring(ctx, ids, bytes)
	}
	if errors.Is(err, ErrOffline) {
		err = ErrOffline // the caller counts the blobs
	}
	if err != nil {
		s.fail(ctx, err)
	}
	clear(s.expected)
	return s.failed[ref.Hash].err
}

// missing returns the objects of the expected blobs that are not here, and the size of their
// contents.
func (s *Source) missing(ctx context.Context) (ids []gitint.OID, bytes int64, err error) {
	var all []gitint.OID
	sizes := map[gitint.OID]int64{}
	for h, size := range s.expected {
		id, ok, err := s.object(h)
		if err != nil {
			return nil, 0, err
		}
		if _, twice := sizes[id]; ok && !id.IsZero() && !twice {
			all, sizes[id] = append(all, id), size
		}
	}
	ids, err = s.repo.HasObject(ctx, all)
	for _, id := range ids {
		bytes += sizes[id]
	}
	return ids, bytes, err
}

// fail notes why the expected blobs did not arrive, as far as they did not.
func (s *Source) fail(ctx context.Context, why error) {
	for h, size := range s.expected {
		id, ok, err := s.object(h)
		if err != nil || !ok || id.IsZero() {
			continue // it is no promise
		}
		gone, err := s.repo.HasObject(ctx, []gitint.OID{id})
		if err != nil || len(gone) > 0 {
			s.failed[h] = absence{size, why}
		}
	}
}

// Absent returns how much was requested and did not arrive, and why.
func (s *Source) Absent() (n int, bytes int64, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, gone := range s.failed {
		n, bytes, why = n+1, bytes+gone.size, gone.err
	}
	return n, bytes, why
}
