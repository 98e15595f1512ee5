package repair

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Lost is content that a store does not have, or has only damaged.
type Lost struct {
	Hash blobs.Hash
	// Size is the size that references to it state.
	Size int64
	// In lists the conversations that refer to it, whose other versions may hold the content
	// inline. If it is empty, any conversation may.
	In []events.ID
}

// Sources are the places that are searched for lost content.
type Sources struct {
	// Workspace is the one whose store lacks content. Required.
	Workspace *workspace.Workspace
	// Repo is its repository, or nil.
	Repo *gitint.Repo
	// Progress, if not nil, is called with the progress of a stage.
	Progress func(stage string, done, total int)
}

func (s Sources) limits() regular.Limits { return s.Workspace.Limits() }

// A Place is a kind of place where content was found.
type Place string

// The places, in the order of the search. The texts are part of the JSON format.
const (
	PlaceStore      Place = "store"      // of another worktree, or the other one of the two stores
	PlaceQuarantine Place = "quarantine" // of garbage collection
	PlaceLFS        Place = "lfs"        // fetched by Git LFS
	PlaceIndex      Place = "index"
	PlaceCommit     Place = "commit"
	PlaceStream     Place = "stream" // inline, in another version of a conversation
)

// A Find is lost content that was found, read and verified.
type Find struct {
	blobs.Ref

	Place Place
	// Where is the file, or the path in a commit.
	Where string
	// Commit is the commit that has it, or zero.
	Commit gitint.OID

	file   string // absolute
	object gitint.OID
}

// A Found is the result of a search.
type Found struct {
	Finds []Find
	// Left holds the content that is in none of the places.
	Left []Lost
	// Unsearched holds a phrase for each place that could not be searched.
	Unsearched []string
}

// Search looks for all lost content at once, in the cheapest places first. It changes nothing and
// does not use the network.
func Search(ctx context.Context, src Sources, lost []Lost) (*Found, error) {
	s, err := newSearch(src, lost, func(blobs.Hash, []byte) error { return nil })
	if err == nil {
		err = s.run(ctx)
	}
	if err != nil {
		return nil, err
	}
	return s.result(), nil
}

// Restore is like Search, but also stores the content that it finds. Intact content in the store is
// left alone. After an error some content may be restored, each blob completely.
func Restore(
	ctx context.Context, src Sources, store *blobs.Store, lost []Lost,
) (*Found, error) {
	return restored(src, store, lost, func(s *search) error { return s.run(ctx) })
}

// Bring stores the content that a search has found. In the result, Left holds the content that has
// vanished since.
func Bring(
	ctx context.Context, src Sources, store *blobs.Store, finds []Find,
) (*Found, error) {
	lost := lists.Map(finds, func(f Find) Lost { return Lost{Hash: f.Hash, Size: f.Size} })
	return restored(src, store, lost, func(s *search) error {
		for _, f := range finds {
			s.add(f)
		}
		return s.read(ctx)
	})
}

// restored stores what look finds.
func restored(
	src Sources, store *blobs.Store, lost []Lost, look func(*search) error,
) (*Found, error) {
	batch := store.NewBatch()
	defer batch.Discard()
	s, err := newSearch(src, lost, func(_ blobs.Hash, content []byte) error {
		_, err := batch.Write(content)
		return err
	})
	if err == nil {
		err = look(s)
	}
	if err != nil {
		return nil, err
	}
	if err := batch.Commit(); err != nil {
		return nil, fmt.Errorf("restore content: %w", err)
	}
	return s.result(), nil
}

// A search is one pass through all places.
type search struct {
	Sources

	lost map[blobs.Hash]Lost // still to be found
	take func(blobs.Hash, []byte) error
	own  string // the path of .jp from the root of the working tree
	lfs  string // the directory of objects that Git LFS has fetched

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
		s.Repo = nil // the workspace is not in this repository
	}
	return s, nil
}

// pathIn returns the slash path of dir from root, or "" if it is not below.
func pathIn(root, dir string) string {
	rel, err := filepath.Rel(root, dir)
	if root == "" || err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// run runs the stages until everything is found. A stage that fails does not stop the others.
func (s *search) run(ctx context.Context) error {
	stages := []struct {
		name string
		look func(context.Context) error
	}{
		{"stores", s.stores},
		{"the index", s.indexes},
		{"the commits around HEAD", s.heads},
		{"copies of conversations", s.copies},
		{"other workspaces", s.neighbours},
		{"history", s.history},
		{"older versions of conversations", s.versions},
		{"other directories in history", s.elsewhere},
	}
	for i, stage := range stages {
		if len(s.lost) == 0 {
			break
		}
		if s.Progress != nil {
			s.Progress("places", i, len(stages))
		}
		err := stage.look(ctx)
		if err == nil {
			err = s.read(ctx)
		}
		if fatal := new(takeError); errors.As(err, &fatal) || ctx.Err() != nil {
			return fmt.Errorf("look for content in %s: %w", stage.name, err)
		}
		if err != nil {
			s.found.Unsearched = append(s.found.Unsearched, stage.name+": "+err.Error())
		}
	}
	return nil
}

// A takeError is an error of the store into which content is written.
type takeError struct{ error }

func (e takeError) Unwrap() error { return e.error }

// result returns the found content, sorted.
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

// add adds a candidate.
func (s *search) add(f Find) {
	if _, ok := s.lost[f.Hash]; ok || f.Place == PlaceStream {
		s.candidates = append(s.candidates, f)
	}
}

// accept takes content if it is lost, and ends the search for it.
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

// wanted reports whether a conversation may have lost content.
func (s *search) wanted(id events.ID) bool {
	for _, l := range s.lost {
		if len(l.In) == 0 || slices.Contains(l.In, id) {
			return true
		}
	}
	return false
}

// hashes returns the hashes of lost content, sorted.
func (s *search) hashes() []blobs.Hash {
	return slices.SortedFunc(maps.Keys(s.lost), blobs.Hash.Compare)
}
