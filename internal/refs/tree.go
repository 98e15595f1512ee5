package refs

import (
	"crypto/sha1" //nolint:gosec // its size alone
	"encoding/binary"
	"encoding/hex"
	"math"
	"strings"

	"github.com/git-jp/git-jp/blobs"
)

// A BlobFile is a blob in a git tree: the object of its file.
type BlobFile struct {
	Hash   blobs.Hash
	Object ObjectID
}

// Blobs returns the blobs in the git tree that id names and in those below it, which list
// finds when they are not known. An error of list is returned and not remembered.
//
// It pays for trees that hold many others, such as the 256 of a store, which change
// seldom and take long to read.
func (c *Cache) Blobs(id ObjectID, list func() ([]BlobFile, error)) ([]BlobFile, error) {
	return remember(c, question[[]BlobFile]{
		kindBlobs, id, list,
		func(all []BlobFile, w *writer) { w.files(all) }, (*reader).files,
	})
}

// Trees returns the trees in the git tree that id names, which list finds when they are not known:
// what Blobs says of it was read through them.
func (c *Cache) Trees(id ObjectID, list func() ([]ObjectID, error)) ([]ObjectID, error) {
	return remember(c, question[[]ObjectID]{
		kindTrees, id, list,
		func(all []ObjectID, w *writer) { w.ids(all) }, (*reader).ids,
	})
}

// IsPointer reports whether the file that id names is a Git LFS pointer.
func (c *Cache) IsPointer(id ObjectID, read func() ([]byte, error)) (bool, error) {
	return remember(c, question[bool]{
		kindPointer, id, after(read, blobs.IsPointer),
		func(is bool, w *writer) { w.bool(is) }, (*reader).bool,
	})
}

// files writes the ids in binary, with their length in front of each.
func (w *writer) files(all []BlobFile) {
	w.buf = binary.AppendUvarint(w.buf, uint64(len(all)))
	for _, f := range all {
		w.buf = append(w.buf, f.Hash[:]...)
		w.id(f.Object)
	}
}

// files cuts the ids, in hex, from one string.
func (r *reader) files() []BlobFile {
	n := r.count()
	room := min(n, len(r.buf)/len(blobs.Hash{})+1)
	all := make([]BlobFile, 0, room)
	names := newIDTexts(room)
	for range n {
		all = append(all, BlobFile{Hash: r.hash()})
		if len(r.buf) == 0 || r.buf[0] < 20 || !names.read(r) {
			r.fail()
			return nil
		}
	}
	text := names.text()
	for i, size := range names.sizes {
		all[i].Object, text = text[:size], text[size:]
	}
	return all
}

// idTexts are object ids in hex, in one string.
type idTexts struct {
	digits strings.Builder
	sizes  []int
}

// newIDTexts returns some with room for so many.
func newIDTexts(n int) *idTexts {
	t := &idTexts{sizes: make([]int, 0, n)}
	t.digits.Grow(2 * sha1.Size * n)
	return t
}

// read takes the next id, its length in front of it, and reports whether there is one.
func (t *idTexts) read(r *reader) bool {
	if len(r.buf) == 0 || len(r.buf) < 1+int(r.buf[0]) {
		return false
	}
	size := 1 + int(r.buf[0])
	var digits [2 * math.MaxUint8]byte
	t.digits.Write(digits[:hex.Encode(digits[:], r.buf[1:size])])
	t.sizes = append(t.sizes, 2*(size-1))
	r.buf = r.buf[size:]
	return true
}

func (t *idTexts) text() ObjectID { return ObjectID(t.digits.String()) }
