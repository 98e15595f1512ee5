package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/refs"
)

// A blob is what a source has at a blob's path, and what is known of it.
type blob struct {
	id   refs.ObjectID
	mode fs.FileMode // absent: nothing; the blob is only referred to
	refs int32       // references from the conversations of the source
	size int64       // as the first reference states it
	// verdict is nil until there is a reference: what nothing refers to is not
	// looked at.
	verdict *verdict
}

// A store is the blobs of one workspace in the source that was checked last.
type store struct {
	dir     string // from the root of the source
	cache   *refs.Cache
	blobs   map[blobs.Hash]blob
	foreign map[string]struct{} // paths below dir
	// touched are the referenced blobs that the last update changed.
	touched []blobs.Hash
}

func newStore(dir string, cache *refs.Cache) *store {
	return &store{
		dir: dir, cache: cache,
		blobs: make(map[blobs.Hash]blob), foreign: make(map[string]struct{}),
	}
}

// update goes from the source old, which is nil at first, to the source src.
func (s *store) update(ctx context.Context, old, src Source) error {
	s.touched = s.touched[:0]
	d := differ{old: old, new: src, dir: s.dir, emit: s.apply}
	w, ok := src.(Walker)
	if !ok || old != nil {
		return d.walk(ctx, ".")
	}
	return s.fill(ctx, w, d)
}

// fill takes the first source. A store has tens of thousands of directories, and
// git's trees are slow to read; but few of the 256 at the top change from one check
// to the next.
func (s *store) fill(ctx context.Context, w Walker, d differ) error {
	entries, err := list(d.new, s.dir)
	if err != nil {
		return err
	}
	if len(entries) > 0 && entries[0].ID == "" {
		return d.all(ctx, w, ".")
	}
	for _, e := range entries {
		if !e.Mode.IsDir() {
			s.apply(change{e.Name, Entry{Mode: absent}, e})
			continue
		}
		files, err := s.cache.Blobs(e.ID, func() ([]refs.BlobFile, error) {
			return onlyBlobs(ctx, w, s.dir, e.Name)
		})
		if errors.Is(err, errNotOnlyBlobs) {
			err = d.all(ctx, w, e.Name)
		}
		if err != nil {
			return err
		}
		for _, f := range files {
			s.set(f.Hash, Entry{ID: f.Object})
		}
	}
	return nil
}

var errNotOnlyBlobs = errors.New("not only blobs")

// onlyBlobs lists a directory at the top of a store that holds nothing but blobs, as
// nearly all do.
func onlyBlobs(ctx context.Context, w Walker, dir, sub string) ([]refs.BlobFile, error) {
	var all []refs.BlobFile
	plain := true
	err := w.Walk(ctx, path.Join(dir, sub), func(e Entry) {
		h, ok := blobs.ParsePath(sub + "/" + e.Name)
		plain = plain && ok && e.Mode.IsRegular() && e.ID != ""
		all = append(all, refs.BlobFile{Hash: h, Object: e.ID})
	})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", path.Join(dir, sub), err)
	}
	if !plain {
		return nil, errNotOnlyBlobs
	}
	return all, nil
}

func (s *store) apply(c change) {
	h, ok := blobs.ParsePath(c.path)
	switch {
	case !ok && c.new.Mode == absent:
		delete(s.foreign, c.path)
	case !ok && c.new.ID == "" && strings.HasPrefix(c.path, ".tmp/"):
		// a file being written, in a work tree
	case !ok && !isOurs(c.path):
		s.foreign[strings.Clone(c.path)] = struct{}{}
	case ok:
		s.set(h, c.new)
	}
}

// isOurs reports whether a file that is no blob may lie in the store: what tells git how
// to treat it.
func isOurs(name string) bool {
	return name == ".gitignore" || name == ".gitattributes" || name == ".gitkeep"
}

func (s *store) set(h blobs.Hash, e Entry) {
	b := s.blobs[h]
	if b.refs > 0 {
		s.touched = append(s.touched, h)
	}
	b.id, b.mode, b.verdict = e.ID, e.Mode, nil
	s.put(h, b)
}

// put forgets what is neither there nor referred to.
func (s *store) put(h blobs.Hash, b blob) {
	if b.mode == absent && b.refs <= 0 {
		delete(s.blobs, h)
		return
	}
	s.blobs[h] = b
}

// refer counts a reference and reports whether it looks well so far: there is a file,
// and no other reference states another size. first says that the blob has to be judged
// now.
func (s *store) refer(ref blobs.Ref) (well, first bool) {
	b, ok := s.blobs[ref.Hash]
	if !ok {
		b.mode = absent
	}
	if b.refs == 0 {
		b.size = ref.Size
	}
	b.refs++
	s.blobs[ref.Hash] = b
	well = b.mode != absent && b.size == ref.Size && b.verdict.fits(ref)
	return well, b.refs == 1 && b.mode != absent && b.verdict == nil
}

// forget takes a reference back.
func (s *store) forget(ref blobs.Ref) {
	b := s.blobs[ref.Hash]
	b.refs--
	s.put(ref.Hash, b)
}

// path returns the path of a blob from the root of the source.
func (s *store) path(h blobs.Hash) string { return path.Join(s.dir, h.Path()) }

// foreignFindings returns a finding for every file that does not belong here.
func (s *store) foreignFindings() []Finding {
	var all []Finding
	for _, name := range slices.Sorted(maps.Keys(s.foreign)) {
		all = append(all, Finding{
			State: Foreign, Path: path.Join(s.dir, name), Element: -1,
			Detail: "is not a blob, so nothing can refer to it",
			Next:   "git rm -- " + ShellQuote(path.Join(s.dir, name)),
		})
	}
	return all
}
