package gitint

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/git-jp/git-jp/gitint/internal/object"
	"github.com/git-jp/git-jp/internal/lists"
)

// A Room limits the memory for listing files, whatever the trees: thirty trees that each contain
// the next one twice have more files than any machine has bytes.
type Room struct{ taken int }

const (
	// maxListing is the size of a Room: a million contents take 150 MiB.
	maxListing = 192 << 20
	// maxPath limits the path of a file: a working tree can have none that is longer.
	maxPath = 4096
	// maxTree is the size of the largest tree that is read.
	maxTree = 32 << 20
)

// ErrCrowded reports a tree with more files, or longer paths, than are read.
var ErrCrowded = errors.New("it has too many files, or directories in directories")

// Take takes room for one more path. The error is [ErrCrowded].
func (r *Room) Take(path int) error {
	const entry = 64
	if r.taken += entry + path; r.taken > maxListing || path > maxPath {
		return ErrCrowded
	}
	return nil
}

// A listing has the trees that were read together for one call. They are not cached for other
// calls, which might then have no room.
type listing struct {
	tree  *Tree
	trees map[OID][]Entry
	room  Room
}

// load reads the trees below some, level by level: together, if a level has many. It skips
// unreadable trees: collect reports those that it needs.
func (l *listing) load(ctx context.Context, level []OID) error {
	for len(level) > 0 {
		level = distinct(level)
		if err := l.readMany(ctx, level); err != nil {
			return err
		}
		var below []OID
		for _, id := range level {
			entries, err := l.entries(ctx, id)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err == nil {
				below = appendDirs(below, entries)
			}
		}
		level = below
	}
	return nil
}

// distinct removes the zero id and duplicates. It keeps the order of discovery, in which the
// objects are in a pack: in another order reading takes ten times as long.
func distinct(ids []OID) []OID {
	seen := make(map[OID]bool, len(ids))
	return slices.DeleteFunc(ids, func(id OID) bool {
		again := seen[id] || id.IsZero()
		seen[id] = true
		return again
	})
}

// readMany reads the unknown trees, if there are many.
func (l *listing) readMany(ctx context.Context, ids []OID) error {
	repo := l.tree.repo
	unread := lists.Filter(ids, func(id OID) bool {
		_, known := repo.objects.tree(id)
		return !known && l.trees[id] == nil
	})
	if len(unread) < bulkFrom {
		return nil
	}
	if l.trees == nil {
		l.trees = make(map[OID][]Entry, len(unread))
	}
	read := make([][]Entry, len(unread))
	err := repo.readObjects(ctx, unread, func(i int, obj object.Object, err error) error {
		if err != nil || len(obj.Data) > maxTree {
			return nil //nolint:nilerr // left out
		}
		if t, err := object.ParseTree(obj, unread[i]); err == nil {
			read[i] = t.All()
		}
		return nil
	})
	for i, id := range unread {
		if read[i] != nil {
			l.trees[id] = read[i]
		}
	}
	return err
}

func (l *listing) entries(ctx context.Context, id OID) ([]Entry, error) {
	if entries, ok := l.trees[id]; ok {
		return entries, nil
	}
	return l.tree.repo.treeEntries(ctx, id)
}

func appendDirs(ids []OID, entries []Entry) []OID {
	for _, e := range entries {
		if e.Mode == ModeDir {
			ids = append(ids, e.OID)
		}
	}
	return ids
}

// collect appends the files of a tree. Git sorts a directory as if its name ended in a slash, so
// the paths are sorted.
func (l *listing) collect(
	ctx context.Context, all []Entry, prefix string, id OID,
) ([]Entry, error) {
	entries, err := l.entries(ctx, id)
	if err != nil {
		return nil, l.fault(prefix, err)
	}
	for _, e := range entries {
		if err := l.room.Take(len(prefix) + len(e.Path)); err != nil {
			return nil, l.fault(prefix, err)
		}
		if e.Mode != ModeDir {
			e.Path = prefix + e.Path
			all = append(all, e)
			continue
		}
		if all, err = l.collect(ctx, all, prefix+e.Path+"/", e.OID); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// fault adds the beginning of the path to an error.
func (l *listing) fault(prefix string, err error) error {
	const shown = 200
	return &fs.PathError{
		Op: "list", Path: l.tree.name + ":" + prefix[:min(len(prefix), shown)], Err: err,
	}
}
