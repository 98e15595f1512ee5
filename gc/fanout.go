package gc

import (
	"context"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/refs"
)

// A fanout is a fan-out directory of a store, such as 9a, named by the first byte of a hash.
type fanout struct {
	name string
	id   gitint.OID
}

// A fanoutRead holds the entries of one fan-out directory.
type fanoutRead struct {
	id      gitint.OID
	boards  []*board
	foreign bool // an entry is not a blob
}

// A board is a subdirectory of a fan-out directory, such as 9a/5f.
type board struct {
	path    string
	id      gitint.OID
	files   []refs.BlobFile
	foreign bool // an entry is not a blob
}

// readFanouts reads the blobs of fan-out directories, in the subdirectories for which wanted is
// true, given the four digits of their path; nil selects all. All directories of one level are read
// in one bulk read.
func (f *treeCache) readFanouts(
	ctx context.Context, fanouts []fanout, wanted func(dir string) bool,
) ([]fanoutRead, error) {
	read, ids := make([]fanoutRead, len(fanouts)), make([]gitint.OID, len(fanouts))
	for i, at := range fanouts {
		read[i].id, ids[i] = at.id, at.id
	}
	err := f.repo.AtOnce().ReadTrees(ctx, ids, func(i int, t gitint.TreeData) error {
		t.Entries(func(e gitint.Entry) {
			name := fanouts[i].name
			switch {
			case e.Mode != gitint.ModeDir:
				read[i].foreign = true
			case wanted == nil || wanted(name+e.Path):
				b := &board{path: name + "/" + e.Path + "/", id: e.OID}
				read[i].boards = append(read[i].boards, b)
			}
		})
		return nil
	})
	if err == nil {
		err = f.readBoards(ctx, read)
	}
	return read, err
}

func (f *treeCache) readBoards(ctx context.Context, fanouts []fanoutRead) error {
	var boards []*board
	var ids []gitint.OID
	for _, at := range fanouts {
		for _, b := range at.boards {
			boards, ids = append(boards, b), append(ids, b.id)
		}
	}
	err := f.repo.AtOnce().ReadTrees(ctx, ids, func(k int, t gitint.TreeData) error {
		b := boards[k]
		t.Entries(func(e gitint.Entry) {
			h, ok := blobs.ParsePath(b.path + e.Path)
			if !ok || !e.Mode.IsRegular() {
				b.foreign = true
				return
			}
			b.files = append(b.files, refs.BlobFile{Hash: h, Object: e.OID})
		})
		return nil
	})
	for i := range fanouts {
		for _, b := range fanouts[i].boards {
			fanouts[i].foreign = fanouts[i].foreign || b.foreign
		}
	}
	return err
}
