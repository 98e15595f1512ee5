package check

import (
	"encoding/binary"
	"io/fs"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
)

// A blob is what a source has at a blob's path, and what is known of it.
type blob struct {
	hash blobs.Hash
	id   gitint.OID
	look look        // here, where it takes no room: there may be a million
	mode fs.FileMode // absent: nothing; the blob is only referred to
	refs int32       // references from the conversations of the source
	next *blob       // in the table
	size int64       // as the first reference states it
	// verdict is nil until there is a reference: what nothing refers to is not
	// judged.
	verdict *verdict
}

// ref is the reference that was counted first.
func (b *blob) ref() blobs.Ref { return blobs.Ref{Hash: b.hash, Size: b.size} }

// A look is what is known of the object of a blob that was not judged.
type look uint8

const (
	unseen look = iota
	sound       // it is here and no pointer
)

// A table is blobs by their hash. It has the first bytes for keys, which tell blobs apart as
// well as all do, unless somebody made them to agree: a check of many blobs waits for the
// memory that it looks them up in.
type table struct {
	first map[uint64]*blob
	free  []blob // to be used next
}

// fanout is how many directories there are at the top of a store, among which its blobs are spread
// evenly.
const fanout = 256

// grow makes room for about n blobs, before there are any.
func (t *table) grow(n int) {
	const most = 1 << 20
	if len(t.first) == 0 {
		t.first = make(map[uint64]*blob, min(n, most))
	}
}

func (t *table) key(h blobs.Hash) uint64 { return binary.NativeEndian.Uint64(h[:]) }

// at returns the blob, a new one when there is none.
func (t *table) at(h blobs.Hash) *blob {
	key := t.key(h)
	first := t.first[key]
	for b := first; b != nil; b = b.next {
		if b.hash == h {
			return b
		}
	}
	if len(t.free) == 0 {
		t.free = make([]blob, 256) // one allocation for many
	}
	b := &t.free[0]
	t.free = t.free[1:]
	b.hash, b.mode, b.next = h, absent, first
	t.first[key] = b
	return b
}

// remove forgets a blob.
func (t *table) remove(gone *blob) {
	var rest *blob
	for b := t.first[t.key(gone.hash)]; b != nil; {
		next := b.next
		if b != gone {
			b.next, rest = rest, b
		}
		b = next
	}
	if rest == nil {
		delete(t.first, t.key(gone.hash))
	} else {
		t.first[t.key(gone.hash)] = rest
	}
}

// pointers counts the blobs that something refers to and for which there is a Git LFS pointer.
func (t *table) pointers() (n int) {
	for _, b := range t.first {
		for ; b != nil; b = b.next {
			if b.refs > 0 && b.verdict != nil && b.verdict.pointer {
				n++
			}
		}
	}
	return n
}
