package gc

import (
	"context"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/refs"
)

// A fanout is a fan-out directory of a store, such as 9a, named by the first byte of a hash.
type fanout struct {
	name string
	id   gitint.OID
}

// A blobWalk selects blobs in fan-out directories and receives them.
type blobWalk struct {
	// wanted selects the directories to read, by the four digits of their path; nil selects all.
	wanted func(dir string) bool
	found  func(i int, h blobs.Hash, id gitint.OID)
	// board, if not nil, is called for each directory that is read.
	board func(i int, id gitint.OID)
	// foreign, if not nil, is called for a fan-out directory with an entry that is no blob.
	foreign func(i int)
}

// A board is a subdirectory of a fan-out directory, such as 9a/5f.
type board struct {
	fanout int
	path   string
	id     gitint.OID
}

// blobsOn passes the blobs of fan-out directories to w, with the index of the fan-out directory.
// All directories of one level are read in one bulk read.
func (f *treeCache) blobsOn(ctx context.Context, fanouts []fanout, w blobWalk) error {
	ids := make([]gitint.OID, len(fanouts))
	for i, s := range fanouts {
		ids[i] = s.id
	}
	on := make([][]board, len(fanouts))
	odd := make([]bool, len(fanouts))
	err := f.repo.AtOnce().ReadTrees(ctx, ids, func(i int, t gitint.TreeData) error {
		t.Entries(func(e gitint.Entry) {
			switch {
			case e.Mode != gitint.ModeDir:
				odd[i] = true
			case w.wanted == nil || w.wanted(fanouts[i].name+e.Path):
				on[i] = append(on[i], board{i, fanouts[i].name + "/" + e.Path + "/", e.OID})
			}
		})
		return nil
	})
	if err != nil {
		return err
	}
	boards := slices.Concat(on...)
	read, err := f.readBoards(ctx, boards)
	if err != nil {
		return err
	}
	for k, b := range boards {
		if w.board != nil {
			w.board(b.fanout, b.id)
		}
		odd[b.fanout] = odd[b.fanout] || read[k].odd
		for _, file := range read[k].files {
			w.found(b.fanout, file.Hash, file.Object)
		}
	}
	for i := range fanouts {
		if odd[i] && w.foreign != nil {
			w.foreign(i)
		}
	}
	return nil
}

// A boardRead holds the entries of one board.
type boardRead struct {
	files []refs.BlobFile
	odd   bool // an entry is not a blob
}

func (f *treeCache) readBoards(ctx context.Context, boards []board) ([]boardRead, error) {
	ids := make([]gitint.OID, len(boards))
	for k, b := range boards {
		ids[k] = b.id
	}
	all := make([]boardRead, len(boards))
	err := f.repo.AtOnce().ReadTrees(ctx, ids, func(k int, t gitint.TreeData) error {
		t.Entries(func(e gitint.Entry) {
			h, ok := blobs.ParsePath(boards[k].path + e.Path)
			if !ok || !e.Mode.IsRegular() {
				all[k].odd = true
				return
			}
			all[k].files = append(all[k].files, refs.BlobFile{Hash: h, Object: e.OID})
		})
		return nil
	})
	return all, err
}
