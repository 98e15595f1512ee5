package gc

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

const (
	conversationsName = "conversations"
	blobsName         = "blobs"
	trashName         = ".trash" // where jp moves what it cannot read
)

// A treeCache reads each tree of a repository once.
type treeCache struct {
	repo  *gitint.Repo
	cache *refs.Cache
	// used has the objects for which the cache answered: whether they still exist must be checked.
	used   map[gitint.OID]struct{}
	usedMu sync.Mutex

	places  map[gitint.OID][]refs.Place
	streams map[gitint.OID][]refs.TreeFile
}

func newTreeCache(o *Options) *treeCache {
	return &treeCache{
		repo: o.Repo, cache: o.cache(), used: make(map[gitint.OID]struct{}),
		places:  make(map[gitint.OID][]refs.Place),
		streams: make(map[gitint.OID][]refs.TreeFile),
	}
}

// limits returns the limits for files that are read completely. A user-local store has no
// repository.
func (f *treeCache) limits() regular.Limits {
	if f == nil || f.repo == nil {
		return regular.Limits{}
	}
	return f.repo.Limits()
}

// locate finds the workspaces in commits, or in trees if areTrees is set.
func (f *treeCache) locate(ctx context.Context, ids []gitint.OID, areTrees bool) error {
	var unknown []gitint.OID
	for _, id := range ids {
		if _, ok := f.places[id]; ok {
			continue
		}
		found, ok := f.cache.Places().Of(id)
		if !ok {
			unknown = append(unknown, id)
			continue
		}
		f.places[id] = found
		for _, p := range found {
			f.uses(p.Conversations, p.Blobs)
			f.uses(p.Through...)
		}
	}
	roots := slices.Clone(unknown)
	if !areTrees {
		err := f.repo.CommitHeads(ctx, unknown, func(i int, h gitint.CommitHead) error {
			roots[i] = h.Tree
			return nil
		})
		if err != nil {
			return err
		}
	}
	search := placeSearch{trees: f, nodes: make(map[gitint.OID]*placeNode)}
	if err := search.read(ctx, slices.Clone(roots)); err != nil {
		return err
	}
	for i, id := range unknown {
		found := leading(roots[i], search.below(roots[i]))
		f.places[id] = found
		f.cache.Places().Set(id, found)
	}
	return nil
}

func (f *treeCache) uses(ids ...gitint.OID) {
	f.usedMu.Lock()
	defer f.usedMu.Unlock()
	for _, id := range ids {
		if !id.IsZero() {
			f.used[id] = struct{}{}
		}
	}
}

// A unit is an entry of a directory of conversations, mostly a conversation.
type unit struct {
	name string
	id   gitint.OID
	file bool
}

// lenient reports whether jp moved the unit to its trash because it could not read it.
func (u unit) lenient() bool { return u.name == trashName }

func unitOf(e gitint.Entry) (unit, bool) {
	u := unit{name: e.Path, id: e.OID, file: e.Mode.IsRegular()}
	return u, u.file || e.Mode == gitint.ModeDir
}

// misplacedUnit returns a unit without an object for an entry that is [misplaced].
func misplacedUnit(e gitint.Entry) (unit, bool) {
	return unit{name: e.Path, file: true}, misplaced(e.Path, e.Mode.FileMode()) != ""
}

// units returns the entries of each tree of conversations.
func (f *treeCache) units(ctx context.Context, trees []gitint.OID) ([][]unit, error) {
	all := make([][]unit, len(trees))
	err := f.repo.AtOnce().ReadTrees(ctx, trees, func(i int, t gitint.TreeData) error {
		t.Entries(func(e gitint.Entry) {
			u, ok := misplacedUnit(e)
			if !ok {
				u, ok = unitOf(e)
			}
			if ok {
				all[i] = append(all[i], u)
			}
		})
		return nil
	})
	return all, err
}

// files returns the files of a unit that can refer to content; those without an object are
// misplaced. list must have been called.
func (f *treeCache) files(u unit) []refs.TreeFile {
	if u.file {
		if isStreamless(u.name) {
			return nil
		}
		return []refs.TreeFile{{Object: u.id}}
	}
	return f.streams[u.id]
}

// isStreamless reports whether a file of a conversation refers to no content.
func isStreamless(name string) bool {
	return name == workspace.MetadataFile || name == workspace.BaseConfigFile
}

// list finds the files in units.
func (f *treeCache) list(ctx context.Context, units []unit) error {
	var unknown []gitint.OID
	for _, u := range units {
		if _, ok := f.streams[u.id]; ok || u.file {
			continue
		}
		found, ok := f.cache.Streams().Of(u.id)
		if !ok {
			unknown = append(unknown, u.id)
			continue
		}
		f.streams[u.id] = found
		f.uses(u.id)
	}
	return f.listUnknown(ctx, unknown)
}

type streamNode struct {
	files []refs.TreeFile
	dirs  []unit
}

func (f *treeCache) listUnknown(ctx context.Context, top []gitint.OID) error {
	nodes := make(map[gitint.OID]*streamNode)
	for level := slices.Clone(top); len(level) > 0; {
		level = slices.DeleteFunc(level, func(id gitint.OID) bool {
			again := nodes[id] != nil
			if !again {
				nodes[id] = new(streamNode)
			}
			return again
		})
		err := f.repo.AtOnce().ReadTrees(ctx, level, func(i int, t gitint.TreeData) error {
			n := nodes[level[i]] // the map does not change meanwhile
			t.Entries(func(e gitint.Entry) {
				if u, ok := misplacedUnit(e); ok && isStreamName(u.name) {
					n.files = append(n.files, refs.TreeFile{Path: u.name})
				}
				u, ok := unitOf(e)
				switch {
				case !ok || u.file && isStreamless(u.name):
				case u.file:
					n.files = append(n.files, refs.TreeFile{Path: u.name, Object: u.id})
				default:
					n.dirs = append(n.dirs, u)
				}
			})
			return nil
		})
		if err != nil {
			return err
		}
		var next []gitint.OID
		for _, id := range level {
			for _, d := range nodes[id].dirs {
				next = append(next, d.id)
			}
		}
		level = next
	}
	l := streamLister{nodes: nodes}
	for _, id := range top {
		found, err := l.below(id, nil, "")
		if err != nil {
			return fmt.Errorf("list tree %s: %w", id, err)
		}
		f.streams[id] = found
		f.cache.Streams().Set(id, found)
	}
	return nil
}

// A streamLister lists paths in trees.
type streamLister struct {
	nodes map[gitint.OID]*streamNode
	room  gitint.Room
}

// below appends the files below a tree.
func (l *streamLister) below(
	id gitint.OID, all []refs.TreeFile, prefix string,
) (_ []refs.TreeFile, err error) {
	for _, file := range l.nodes[id].files {
		if err := l.room.Take(len(prefix) + len(file.Path)); err != nil {
			return nil, err
		}
		file.Path = prefix + file.Path
		all = append(all, file)
	}
	for _, d := range l.nodes[id].dirs {
		if err := l.room.Take(len(prefix) + len(d.name)); err != nil {
			return nil, err
		}
		if all, err = l.below(d.id, all, prefix+d.name+"/"); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// isStream reports whether a file must be a stream.
func isStream(u unit, file refs.TreeFile) bool {
	name := file.Path
	if u.file {
		name = u.name
	}
	return path.Base(name) == workspace.EventsFile && !u.lenient() &&
		!strings.HasPrefix(name, trashName+"/")
}

// filePath returns the path of a file from the root of the tree.
func filePath(p refs.Place, u unit, file refs.TreeFile) string {
	if p.Kind == refs.Workspace {
		return path.Join(p.Dir, conversationsName, u.name, file.Path)
	}
	return path.Join(p.Dir, u.name, file.Path)
}
