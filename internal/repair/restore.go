package repair

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Lost is a content that a store has not, or not soundly.
type Lost struct {
	Hash blobs.Hash
	// Size is what the references to it state.
	Size int64
	// In are the conversations that refer to it, whose other versions may have the content
	// in place. None means any conversation.
	In []events.ID
}

// Sources are the places in which lost content is looked for.
type Sources struct {
	// Workspace is the one whose store has lost something. Required.
	Workspace *workspace.Workspace
	// Repo is its repository, nil where it has none.
	Repo *gitint.Repo
	// Near leaves out what takes a walk through history: what remains are files of this
	// machine, the index, and the commits around HEAD, which takes milliseconds.
	Near bool
	// Progress, when not nil, is told how far a stage has come.
	Progress func(stage string, done, total int)
}

func (s Sources) limits() regular.Limits { return s.Workspace.Limits() }

// A Place is a kind of place in which content was found.
type Place string

// The places, in the order in which they are looked at. The texts are part of the JSON
// format.
const (
	PlaceStore      Place = "store"      // of another worktree, or of the other of the two stores
	PlaceQuarantine Place = "quarantine" // of the collector
	PlaceLFS        Place = "lfs"        // what Git LFS has fetched
	PlaceIndex      Place = "index"
	PlaceCommit     Place = "commit"
	PlaceStream     Place = "stream" // in place, in another version of a conversation
)

// A Find is lost content that was found, read and verified.
type Find struct {
	blobs.Ref

	Place Place
	// Where names the file, or the path in a commit.
	Where string
	// Commit has it, zero where none does.
	Commit gitint.OID

	file   string // absolute
	object gitint.OID
}

// Found says what became of a search.
type Found struct {
	Finds []Find
	// Left are the contents that are in none of the places.
	Left []Lost
	// Unsearched says, a phrase each, where could not be looked.
	Unsearched []string
}

// Search looks for lost contents, the cheapest places first, and for all of them at once.
// Nothing is changed, and the network is not used.
func Search(ctx context.Context, src Sources, lost []Lost) (*Found, error) {
	s, err := newSearch(src, lost, func(blobs.Hash, []byte) error { return nil })
	if err != nil {
		return nil, err
	}
	return s.run(ctx)
}

// Restore is Search, and puts what it finds into store. What is there and sound stays as
// it is. After an error some contents may be back, each whole.
func Restore(
	ctx context.Context, src Sources, store *blobs.Store, lost []Lost,
) (found *Found, err error) {
	batch := store.NewBatch()
	defer batch.Discard()
	s, err := newSearch(src, lost, writeTo(batch))
	if err != nil {
		return nil, err
	}
	if found, err = s.run(ctx); err != nil {
		return nil, err
	}
	if err := batch.Commit(); err != nil {
		return nil, fmt.Errorf("restore content: %w", err)
	}
	return found, nil
}

// Bring puts what a search has found into store. Left is what has vanished since.
func Bring(
	ctx context.Context, src Sources, store *blobs.Store, finds []Find,
) (*Found, error) {
	var lost []Lost
	for _, f := range finds {
		lost = append(lost, Lost{Hash: f.Hash, Size: f.Size})
	}
	batch := store.NewBatch()
	defer batch.Discard()
	s, err := newSearch(src, lost, writeTo(batch))
	if err != nil {
		return nil, err
	}
	for _, f := range finds {
		s.add(f)
	}
	if err := s.read(ctx); err != nil {
		return nil, err
	}
	if err := batch.Commit(); err != nil {
		return nil, fmt.Errorf("restore content: %w", err)
	}
	return s.result(), nil
}

func writeTo(batch *blobs.Batch) func(blobs.Hash, []byte) error {
	return func(_ blobs.Hash, content []byte) error {
		_, err := batch.Write(content)
		return err
	}
}

// A search is one look through all places.
type search struct {
	Sources

	lost map[blobs.Hash]Lost // what is still to be found
	take func(blobs.Hash, []byte) error
	own  string // the path of .jp from the root of the working tree
	lfs  string // the directory of what Git LFS has fetched

	candidates []Find
	tried      map[gitint.OID]bool
	found      Found
}

func newSearch(
	src Sources, lost []Lost, take func(blobs.Hash, []byte) error,
) (*search, error) {
	s := &search{
		Sources: src, take: take, lost: make(map[blobs.Hash]Lost, len(lost)),
		tried: make(map[gitint.OID]bool),
	}
	for _, l := range lost {
		one := s.lost[l.Hash]
		one.Hash, one.Size = l.Hash, max(one.Size, l.Size)
		one.In = append(one.In, l.In...)
		s.lost[l.Hash] = one
	}
	if src.Repo == nil {
		return s, nil
	}
	s.lfs = filepath.Join(src.Repo.CommonDir(), "lfs", "objects")
	dir, err := filepath.EvalSymlinks(src.Workspace.Dir())
	if err != nil {
		return nil, err
	}
	if s.own = pathIn(src.Repo.Root(), dir); s.own == "" {
		s.Repo = nil // it has nothing to do with this workspace
	}
	return s, nil
}

// pathIn is the slash path of dir from root, "" where it is not below.
func pathIn(root, dir string) string {
	rel, err := filepath.Rel(root, dir)
	if root == "" || err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// run goes through the stages until nothing is lost any more. A stage that fails hides
// none of the others.
func (s *search) run(ctx context.Context) (*Found, error) {
	stages := []struct {
		name string
		look func(context.Context) error
		far  bool
	}{
		{"stores", s.stores, false},
		{"the index", s.indexes, false},
		{"the commits around HEAD", s.heads, false},
		{"copies of conversations", s.copies, false},
		{"other workspaces", s.neighbours, true},
		{"history", s.history, true},
		{"older versions of conversations", s.versions, true},
		{"other directories in history", s.elsewhere, true},
	}
	for i, stage := range stages {
		if len(s.lost) == 0 {
			break
		}
		if stage.far && s.Near {
			continue
		}
		if s.Progress != nil {
			s.Progress("places", i, len(stages))
		}
		err := stage.look(ctx)
		if err == nil {
			err = s.read(ctx)
		}
		if fatal := new(takeError); errors.As(err, &fatal) || ctx.Err() != nil {
			return nil, fmt.Errorf("look for content in %s: %w", stage.name, err)
		}
		if err != nil {
			s.found.Unsearched = append(s.found.Unsearched, stage.name+": "+err.Error())
		}
	}
	return s.result(), nil
}

// A takeError is one of the store that content is put into.
type takeError struct{ error }

func (e takeError) Unwrap() error { return e.error }

// result sorts what was found.
func (s *search) result() *Found {
	for _, l := range s.lost {
		s.found.Left = append(s.found.Left, l)
	}
	slices.SortFunc(s.found.Left, func(a, b Lost) int { return a.Hash.Compare(b.Hash) })
	slices.SortFunc(s.found.Finds, func(a, b Find) int { return a.Hash.Compare(b.Hash) })
	if s.Repo != nil && len(s.lost) > 0 {
		for _, i := range s.Repo.Incomplete() {
			s.found.Unsearched = append(s.found.Unsearched, i.String())
		}
	}
	return &s.found
}

// add notes where content may be.
func (s *search) add(f Find) {
	if _, ok := s.lost[f.Hash]; ok || f.Place == PlaceStream {
		s.candidates = append(s.candidates, f)
	}
}

// accept takes content that is lost and ends its search.
func (s *search) accept(f Find, content []byte) error {
	if _, ok := s.lost[f.Hash]; !ok {
		return nil
	}
	if err := s.take(f.Hash, content); err != nil {
		return &takeError{err}
	}
	delete(s.lost, f.Hash)
	f.Ref = blobs.RefTo(content)
	s.found.Finds = append(s.found.Finds, f)
	return nil
}

// wanted reports whether a conversation may have something that is lost.
func (s *search) wanted(id events.ID) bool {
	for _, l := range s.lost {
		if len(l.In) == 0 || slices.Contains(l.In, id) {
			return true
		}
	}
	return false
}

// hashes are those of what is lost, in order.
func (s *search) hashes() []blobs.Hash {
	all := make([]blobs.Hash, 0, len(s.lost))
	for h := range s.lost {
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b blobs.Hash) int { return cmp.Compare(a.String(), b.String()) })
	return all
}
