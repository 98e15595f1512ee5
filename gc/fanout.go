package gc

import (
	"context"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
)

// A fanout is a fan-out directory of a store, such as 9a, by the first byte of a hash.
type fanout struct {
	name string
	id   gitint.OID
}

// A blobWalk says what is looked for on fanouts, and is told.
type blobWalk struct {
	// wanted chooses the directories to read, by the four digits of their path; nil all.
	wanted func(dir string) bool
	found  func(i int, h blobs.Hash, id gitint.OID)
	// board is told of each directory that is read. It may be nil.
	board func(i int, id gitint.OID)
	// foreign is told of a fanout on which something is no blob. It may be nil.
	foreign func(i int)
}

// blobsOn tells the blobs on fanouts, by the number of the fanout. All directories of one level
// are read at once.
func (f *treeCache) blobsOn(ctx context.Context, fanouts []fanout, w blobWalk) error {
	ids := make([]gitint.OID, len(fanouts))
	for i, s := range fanouts {
		ids[i] = s.id
	}
	odd := func(i int) {
		if w.foreign != nil {
			w.foreign(i)
		}
	}
	type board struct {
		fanout int
		path   string
	}
	boards, below := []board(nil), []gitint.OID(nil)
	err := f.repo.ReadTrees(ctx, ids, func(i int, t gitint.TreeData) error {
		t.Entries(func(e gitint.Entry) {
			switch {
			case e.Mode != gitint.ModeDir:
				odd(i)
			case w.wanted == nil || w.wanted(fanouts[i].name+e.Path):
				boards = append(boards, board{i, fanouts[i].name + "/" + e.Path + "/"})
				below = append(below, e.OID)
				if w.board != nil {
					w.board(i, e.OID)
				}
			}
		})
		return nil
	})
	if err != nil {
		return err
	}
	return f.repo.ReadTrees(ctx, below, func(i int, t gitint.TreeData) error {
		t.Entries(func(e gitint.Entry) {
			h, ok := blobs.ParsePath(boards[i].path + e.Path)
			if !ok || !e.Mode.IsRegular() {
				odd(boards[i].fanout)
				return
			}
			w.found(boards[i].fanout, h, e.OID)
		})
		return nil
	})
}
