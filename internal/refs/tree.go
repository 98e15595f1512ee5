package refs

import (
	"encoding/binary"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
)

// A BlobFile is a blob in a git tree, with the object of its file.
type BlobFile struct {
	Hash   blobs.Hash
	Object gitint.OID
}

// Blobs returns the blobs in the git tree with the given id and below it. list is called if they
// are not known; its error is returned and not remembered.
//
// It pays for trees with many others below, such as the 256 of a store, which rarely change and
// take long to read.
func (c *Cache) Blobs(id gitint.OID, list func() ([]BlobFile, error)) ([]BlobFile, error) {
	return remember(c, question[[]BlobFile]{
		kindBlobs, id, list,
		func(all []BlobFile, w *writer) { w.files(all) }, (*reader).files,
	})
}

// Trees returns the subtrees of the git tree with the given id, through which the answer of Blobs
// was read. list is called if they are not known.
func (c *Cache) Trees(id gitint.OID, list func() ([]gitint.OID, error)) ([]gitint.OID, error) {
	return remember(c, question[[]gitint.OID]{
		kindTrees, id, list,
		func(all []gitint.OID, w *writer) { w.ids(all) }, (*reader).ids,
	})
}

// IsPointer reports whether the file with the given id is a Git LFS pointer.
func (c *Cache) IsPointer(id gitint.OID, read func() ([]byte, error)) (bool, error) {
	return remember(c, question[bool]{
		kindPointer, id, after(read, blobs.IsPointer),
		func(is bool, w *writer) { w.bool(is) }, (*reader).bool,
	})
}

// files writes hashes and object ids in binary; each id is preceded by its length.
func (w *writer) files(all []BlobFile) {
	w.buf = slices.Grow(w.buf, len(all)*(len(blobs.Hash{})+1+shortestID))
	w.buf = binary.AppendUvarint(w.buf, uint64(len(all)))
	for _, f := range all {
		w.buf = append(w.buf, f.Hash[:]...)
		w.id(f.Object)
	}
}

func (r *reader) files() []BlobFile {
	n := r.count()
	all := make([]BlobFile, 0, min(n, len(r.buf)/(len(blobs.Hash{})+shortestID)+1))
	for range n {
		f := BlobFile{Hash: r.hash(), Object: r.id()}
		if f.Object.IsZero() {
			r.fail()
		}
		if r.err != nil {
			return nil
		}
		all = append(all, f)
	}
	return all
}
