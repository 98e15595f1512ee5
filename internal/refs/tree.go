package refs

import (
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
)

// A BlobFile is a blob in a git tree, with the object of its file.
type BlobFile struct {
	Hash   blobs.Hash
	Object gitint.OID
}

// Blobs are the blobs in git trees and below them.
//
// They pay for trees with many others below, such as the 256 of a store, which rarely change and
// take long to read.
func (c *Cache) Blobs() Property[[]BlobFile] {
	return Property[[]BlobFile]{
		c, kindBlobs, func(all []BlobFile, w *writer) { w.files(all) }, (*reader).files,
	}
}

// Trees are the subtrees of git trees through which the answers of Blobs were read.
func (c *Cache) Trees() Property[[]gitint.OID] {
	return Property[[]gitint.OID]{
		c, kindTrees, func(all []gitint.OID, w *writer) { w.ids(all) }, (*reader).ids,
	}
}

// IsPointer reports whether the file with the given id is a Git LFS pointer.
func (c *Cache) IsPointer(id gitint.OID, read func() ([]byte, error)) (bool, error) {
	write := func(is bool, w *writer) { w.bool(is) }
	pointer := Property[bool]{c, kindPointer, write, (*reader).bool}
	return pointer.Or(id, after(read, blobs.IsPointer))
}

// files writes hashes and object ids in binary; each id is preceded by its length.
func (w *writer) files(all []BlobFile) {
	w.buf = slices.Grow(w.buf, len(all)*(len(blobs.Hash{})+1+shortestID))
	writeAll(w, all, func(f BlobFile) {
		w.buf = append(w.buf, f.Hash[:]...)
		w.id(f.Object)
	})
}

func (r *reader) files() []BlobFile {
	return readAll(r, len(blobs.Hash{})+shortestID, func() BlobFile {
		f := BlobFile{Hash: r.hash(), Object: r.id()}
		if f.Object.IsZero() {
			r.fail()
		}
		return f
	})
}
