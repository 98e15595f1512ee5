package check

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/refs"
)

// A store holds the blobs of one workspace in the last checked source.
type store struct {
	dir   string // from the root of the source
	cache *refs.Cache
	table
	foreign map[string]struct{} // paths below dir
	// touched holds the referenced blobs that the last update changed.
	touched []*blob
}

func newStore(dir string, cache *refs.Cache) *store {
	return &store{
		dir: dir, cache: cache,
		table: newTable(), foreign: make(map[string]struct{}),
	}
}

// A transition leads from the source old, which is nil at first, to the source new.
type transition struct {
	old, new Source
	was, is  map[string]Entry // the entries of the workspace's directory
}

// part returns the old and the new entry of a part of the workspace.
func (t transition) part(name string) (was, is Entry) {
	none := Entry{Mode: absent}
	was, is = none, none
	if e, ok := t.was[name]; ok {
		was = e
	}
	if e, ok := t.is[name]; ok {
		is = e
	}
	return was, is
}

// update updates the store to the next source. For the first source it sends the parts as they
// become known.
func (s *store) update(ctx context.Context, t transition, parts chan<- part) error {
	s.touched = s.touched[:0]
	d := differ{old: t.old, new: t.new, dir: s.dir, emit: s.apply}
	was, is := t.part(blobs.Dir)
	o, ok := t.new.(objectSource)
	if !ok || t.old != nil || !is.Mode.IsDir() {
		return d.walk(ctx, ".", orNone(was), orNone(is))
	}
	return s.fill(ctx, o, d, parts)
}

// partsAtOnce is how many top-level directories of a store are listed at once: few enough to bound
// memory, and enough to make the overhead of a step small.
const partsAtOnce = 32

// fill reads the first source. A store has tens of thousands of directories, and reading git's
// trees is slow, but few of the 256 top-level ones change from one check to the next.
func (s *store) fill(
	ctx context.Context, o objectSource, d differ, parts chan<- part,
) error {
	entries, err := list(d.new, s.dir)
	if err != nil {
		return err
	}
	if len(entries) > 0 && entries[0].ID.IsZero() {
		return d.all(ctx, o, ".")
	}
	gone, err := s.goneParts(ctx, o, entries)
	if err != nil {
		return err
	}
	for group := range slices.Chunk(entries, partsAtOnce) {
		files, err := s.filesOf(ctx, o, group, gone)
		if err != nil {
			return err
		}
		for i, e := range group {
			if !e.Mode.IsDir() {
				s.apply(change{e.Name, Entry{Mode: absent}, e})
				continue
			}
			p, err := s.fillPart(ctx, o, e, files[i])
			switch {
			case errors.Is(err, errNotOnlyBlobs):
				err = d.all(ctx, o, e.Name)
			case err == nil:
				parts <- p
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// goneParts returns the directories that the cache knows and that are missing, or have a missing
// subdirectory.
func (s *store) goneParts(
	ctx context.Context, o objectSource, entries []Entry,
) (map[gitint.OID]bool, error) {
	var known, parts []gitint.OID
	for _, e := range entries {
		if !e.Mode.IsDir() || !s.cache.KnowsBlobs(e.ID) {
			continue
		}
		// A damaged record is written again.
		below, _ := s.cache.Trees().Or(e.ID, func() ([]gitint.OID, error) {
			return treesIn(ctx, o, e.ID)
		})
		known = append(append(known, e.ID), below...)
		for range len(below) + 1 {
			parts = append(parts, e.ID)
		}
	}
	lost, err := o.Gone(ctx, known)
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", s.dir, err)
	}
	gone := make(map[gitint.OID]bool)
	for i, id := range known {
		if lost[id] {
			gone[parts[i]] = true
		}
	}
	return gone, nil
}

// treesIn lists the directories in a directory.
func treesIn(
	ctx context.Context, o objectSource, dir gitint.OID,
) (all []gitint.OID, err error) {
	err = o.Differ(ctx, gitint.OID{}, dir, func(_, is Entry) {
		if is.Mode.IsDir() {
			all = append(all, is.ID)
		}
	})
	return all, err
}

// filesOf lists those of the directories that the cache does not know, and those that are gone, so
// that listing them reports the error.
func (s *store) filesOf(
	ctx context.Context, o objectSource, group []Entry, gone map[gitint.OID]bool,
) ([][]Entry, error) {
	files := make([][]Entry, len(group))
	var dirs []string
	var at []int
	for i, e := range group {
		if e.Mode.IsDir() && (!s.cache.KnowsBlobs(e.ID) || gone[e.ID]) {
			dirs, at = append(dirs, path.Join(s.dir, e.Name)), append(at, i)
		}
	}
	err := o.WalkAll(ctx, dirs, func(i int, e Entry) { files[at[i]] = append(files[at[i]], e) })
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", s.dir, err)
	}
	return files, nil
}

// fillPart adds a directory. files is nil if they are in the cache.
func (s *store) fillPart(
	ctx context.Context, o objectSource, dir Entry, files []Entry,
) (part, error) {
	known, err := s.cache.Blobs().Or(dir.ID, func() ([]refs.BlobFile, error) {
		if files == nil {
			return nil, errNotOnlyBlobs // the cache is damaged
		}
		return onlyBlobs(dir.Name, files)
	})
	if err == nil && files != nil {
		_, err = s.cache.Trees().Or(dir.ID, func() ([]gitint.OID, error) {
			return treesIn(ctx, o, dir.ID)
		})
	}
	s.grow(fanout * len(known))
	p := part{tree: dir.ID, blobs: make([]*blob, 0, len(known))}
	for _, f := range known {
		p.blobs = append(p.blobs, s.set(f.Hash, Entry{ID: f.Object}))
	}
	return p, err
}

var errNotOnlyBlobs = errors.New("not only blobs")

// onlyBlobs returns the blobs in a top-level directory of a store if it holds nothing else, as
// nearly all do.
func onlyBlobs(dir string, files []Entry) ([]refs.BlobFile, error) {
	all := make([]refs.BlobFile, 0, len(files))
	for _, e := range files {
		h, ok := blobs.ParsePath(dir + "/" + e.Name)
		if !ok || !e.Mode.IsRegular() || e.ID.IsZero() {
			return nil, errNotOnlyBlobs
		}
		all = append(all, refs.BlobFile{Hash: h, Object: e.ID})
	}
	return all, nil
}

func (s *store) apply(c change) {
	h, ok := blobs.ParsePath(c.path)
	switch {
	case !ok && c.new.Mode == absent:
		delete(s.foreign, c.path)
	case !ok && c.new.ID.IsZero() && strings.HasPrefix(c.path, ".tmp/"):
		// a file that is being written, in a working tree
	case !ok && !isOurs(c.path):
		s.foreign[strings.Clone(c.path)] = struct{}{}
	case ok:
		s.set(h, c.new)
		if c.new.Mode.IsRegular() || c.new.Mode == absent {
			delete(s.foreign, c.path)
		} else { // a link or directory with a blob's name would stop garbage collection
			s.foreign[strings.Clone(c.path)] = struct{}{}
		}
	}
}

// isOurs reports whether a file other than a blob is allowed in the store: those that configure
// git.
func isOurs(name string) bool {
	return name == ".gitignore" || name == ".gitattributes" || name == ".gitkeep"
}

func (s *store) set(h blobs.Hash, e Entry) *blob {
	b := s.at(h)
	if b.refs > 0 {
		s.touched = append(s.touched, b)
	}
	b.id, b.mode, b.verdict, b.look = e.ID, e.Mode, nil, unseen
	s.drop(b)
	return b
}

// drop removes a blob that is neither present nor referenced.
func (s *store) drop(b *blob) {
	if b.mode == absent && b.refs <= 0 {
		s.remove(b)
	}
}

// refer counts a reference and reports whether it is fine so far: there is a file, and no other
// reference states another size. first reports whether the blob has to be judged now.
func (s *store) refer(ref blobs.Ref) (b *blob, well, first bool) {
	b = s.at(ref.Hash)
	if b.refs == 0 {
		b.size, b.disputed = ref.Size, false
	}
	b.refs++
	b.disputed = b.disputed || b.size != ref.Size
	well = b.mode != absent && b.size == ref.Size && b.verdict.fits(ref)
	return b, well, b.refs == 1 && b.mode != absent && b.verdict == nil
}

// forget removes a reference.
func (s *store) forget(ref blobs.Ref) {
	b := s.at(ref.Hash)
	b.refs--
	s.drop(b)
}

// path returns the path of a blob from the root of the source.
func (s *store) path(h blobs.Hash) string { return s.dir + "/" + h.Path() }

// foreignFindings returns a finding for every foreign file.
func (s *store) foreignFindings() []Finding {
	var all []Finding
	for _, name := range slices.Sorted(maps.Keys(s.foreign)) {
		if h, ok := blobs.ParsePath(name); ok && s.at(h).refs > 0 {
			continue // reported with the reference
		}
		all = append(all, Finding{
			State: Foreign, Path: path.Join(s.dir, name), Element: -1,
			Detail: "is not a blob that this version can read",
		})
	}
	return all
}
