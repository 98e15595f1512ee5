package check

import (
	"hash/maphash"
	"io/fs"
	"math/bits"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
)

// A blob is the entry of a source at a blob's path, with the facts known about it.
type blob struct {
	hash blobs.Hash
	id   gitint.OID
	// look and disputed are here, where they need no extra memory: there may be a million.
	look     look
	disputed bool        // references have stated different sizes
	mode     fs.FileMode // absent: no entry, but references to it
	refs     int32       // references from the conversations of the source
	size     int64       // according to the first reference
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
	away        // it is not here
)

// A table maps hashes to blobs. A map of that many takes twice the memory. Whoever writes a stream
// chooses the hashes in it, so a seeded hash chooses the slots, not their own bits.
type table struct {
	seed  maphash.Seed
	slots []*blob // length is a power of two; at least half are nil
	n     int     // number of blobs in slots
	free  []blob  // allocated and not used yet
}

// fanout is the number of top-level directories of a store, over which its blobs are evenly
// distributed.
const fanout = 256

func newTable() table { return table{seed: maphash.MakeSeed(), slots: make([]*blob, 64)} }

// grow allocates for about n blobs, if the table is empty.
func (t *table) grow(n int) {
	const most = 1 << 20
	if t.n == 0 && len(t.slots) < 2*min(n, most) {
		t.slots = make([]*blob, 1<<bits.Len(uint(2*min(n, most)-1))) // is positive
	}
}

// slot returns the index of a blob, or of the empty slot for it.
func (t *table) slot(h blobs.Hash) int {
	at := t.home(h)
	for t.slots[at] != nil && t.slots[at].hash != h {
		at = t.after(at)
	}
	return at
}

// home returns the slot in which the search for a hash begins.
func (t *table) home(h blobs.Hash) int {
	return int(maphash.Bytes(t.seed, h[:]) & uint64(len(t.slots)-1)) // is less
}

func (t *table) after(at int) int { return (at + 1) & (len(t.slots) - 1) }

// at returns the blob with a hash, and adds it if there is none.
func (t *table) at(h blobs.Hash) *blob {
	at := t.slot(h)
	if b := t.slots[at]; b != nil {
		return b
	}
	if len(t.free) == 0 {
		t.free = make([]blob, 256) // one allocation for many
	}
	b := &t.free[0]
	t.free = t.free[1:]
	b.hash, b.mode = h, absent
	t.slots[at] = b
	if t.n++; 2*t.n > len(t.slots) {
		before := t.slots
		t.slots = make([]*blob, 2*len(before))
		for _, b := range before {
			if b != nil {
				t.slots[t.slot(b.hash)] = b
			}
		}
	}
	return b
}

// remove removes a blob. Blobs after it that were placed past its slot move up.
func (t *table) remove(gone *blob) {
	hole := t.slot(gone.hash)
	if t.slots[hole] != gone {
		return
	}
	t.slots[hole] = nil
	t.n--
	for at := t.after(hole); t.slots[at] != nil; at = t.after(at) {
		b := t.slots[at]
		t.slots[at] = nil
		t.slots[t.slot(b.hash)] = b
	}
}

// pointers counts the referenced blobs that are Git LFS pointers, without and with content in the
// local store.
func (t *table) pointers() (missing, fetched int) {
	for _, b := range t.slots {
		switch {
		case b == nil || b.refs <= 0 || b.verdict == nil || !b.verdict.pointer:
		case b.verdict.fetched:
			fetched++
		default:
			missing++
		}
	}
	return missing, fetched
}
