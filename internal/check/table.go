package check

import (
	"encoding/binary"
	"io/fs"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
)

// A blob is the entry of a source at a blob's path, with the facts known about it.
type blob struct {
	hash blobs.Hash
	id   gitint.OID
	look look        // here, where it needs no extra memory: there may be a million
	mode fs.FileMode // absent: no entry, but references to it
	refs int32       // references from the conversations of the source
	next *blob       // in the table
	size int64       // as in the first reference
	// verdict is nil until there is a reference: unreferenced blobs are not judged.
	verdict *verdict
}

// ref returns the reference that was counted first.
func (b *blob) ref() blobs.Ref { return blobs.Ref{Hash: b.hash, Size: b.size} }

// A look is the state of a blob's object before it is judged.
type look uint8

const (
	unseen look = iota
	sound       // it is here and not a pointer
)

// A table finds blobs by hash. Its keys are the first bytes, which distinguish blobs as well as the
// whole hash unless someone crafts collisions: checking many blobs is limited by the memory that
// lookups touch.
type table struct {
	first map[uint64]*blob
	free  []blob // allocated in advance
}

// fanout is the number of top-level directories of a store, over which its blobs are evenly
// distributed.
const fanout = 256

// grow allocates for about n blobs, if the table is empty.
func (t *table) grow(n int) {
	const most = 1 << 20
	if len(t.first) == 0 {
		t.first = make(map[uint64]*blob, min(n, most))
	}
}

func (t *table) key(h blobs.Hash) uint64 { return binary.NativeEndian.Uint64(h[:]) }

// at returns the blob with a hash, and adds it if there is none.
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

// remove removes a blob.
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

// pointers counts the referenced blobs that are Git LFS pointers.
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
