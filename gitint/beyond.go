package gitint

import (
	"bytes"
	"context"
	"slices"

	"github.com/git-jp/git-jp/gitint/internal/index"
)

// IndexBeyond is Index limited to the files that wanted accepts by their path and that a tree does
// not have with the same object. It needs memory only for these, and for a part of the tree.
func (r *Repo) IndexBeyond(
	ctx context.Context, tree *Tree, wanted func(path []byte) bool,
) (*Index, error) {
	known := treePart{ctx: ctx, tree: tree}
	beyond := func(path []byte, id OID) bool { return wanted(path) && !known.has(path, id) }
	return r.indexWhere(ctx, func(e *index.Entry, path []byte) bool { return beyond(path, e.OID) },
		func(_ *Index, e Entry) bool { return beyond([]byte(e.Path), e.OID) })
}

// A treePart has the files of one directory of a tree, the one two levels above the last path: an
// index is sorted by path, and reading such directories together costs least.
type treePart struct {
	ctx     context.Context // of one reading of an index
	tree    *Tree
	dir     []byte
	entries []Entry
}

// has reports whether the tree has an object at a path, false if the tree cannot be read.
func (p *treePart) has(path []byte, id OID) bool {
	dir := path[:max(bytes.LastIndexByte(path, '/'), 0)]
	if dir = dir[:max(bytes.LastIndexByte(dir, '/'), 0)]; len(dir) == 0 {
		is, ok := p.tree.OID(string(path))
		return ok && is == id
	}
	if !bytes.Equal(dir, p.dir) {
		p.dir = append(p.dir[:0], dir...)
		lists, err := p.tree.EntriesOf(p.ctx, string(dir))
		if p.entries = lists[0]; err != nil {
			p.entries = nil
		}
	}
	i, ok := slices.BinarySearchFunc(p.entries, path, func(e Entry, path []byte) int {
		switch {
		case e.Path < string(path):
			return -1
		case e.Path > string(path):
			return 1
		default:
			return 0
		}
	})
	return ok && p.entries[i].OID == id
}
