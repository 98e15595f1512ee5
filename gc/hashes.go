package gc

import (
	"hash/maphash"
	"slices"

	"github.com/git-jp/git-jp/blobs"
)

// hashes numbers contents, so that a hundred thousand of them can be listed repeatedly at four
// bytes each. It is its own hash table because filling a map of so many long keys takes three times
// as long. The writer of a stream chooses the hashes, so a seeded hash, and not their own bits,
// selects the slots.
type hashes struct {
	seed  maphash.Seed
	slots []slot // a power of two, at least half of them empty
	all   []blobs.Hash
}

// A slot is the slot of a content in the table.
type slot struct {
	digest uint32
	after  int32 // the number plus one; 0 is an empty slot
}

func newHashes() *hashes {
	return &hashes{seed: maphash.MakeSeed(), slots: make([]slot, 64)}
}

// reserve makes room for n more contents.
func (s *hashes) reserve(n int) {
	s.all = slices.Grow(s.all, n)
	for len(s.slots) < 2*(len(s.all)+n) {
		s.grow()
	}
}

func (s *hashes) add(h blobs.Hash) int32 {
	digest := s.digest(h)
	at := s.slot(digest, h)
	if s.slots[at].after > 0 {
		return s.slots[at].after - 1
	}
	n := int32(len(s.all)) // two thousand million contents do not fit a disk
	s.all = append(s.all, h)
	s.slots[at] = slot{digest, n + 1}
	if 2*len(s.all) > len(s.slots) {
		s.grow()
	}
	return n
}

func (s *hashes) find(h blobs.Hash) (int32, bool) {
	n := s.slots[s.slot(s.digest(h), h)].after
	return n - 1, n > 0
}

func (s *hashes) digest(h blobs.Hash) uint32 {
	return uint32(maphash.Bytes(s.seed, h[:])) // a part of it is enough
}

// slot returns the slot of a content, or the empty slot for it.
func (s *hashes) slot(digest uint32, h blobs.Hash) int {
	mask := len(s.slots) - 1
	for at := int(digest) & mask; ; at = (at + 1) & mask {
		switch found := s.slots[at]; {
		case found.after == 0:
			return at
		case found.digest == digest && s.all[found.after-1] == h:
			return at
		}
	}
}

func (s *hashes) grow() {
	before := s.slots
	s.slots = make([]slot, 2*len(before))
	s.all = slices.Grow(s.all, len(before)-len(s.all))
	mask := len(s.slots) - 1
	for _, moved := range before {
		if moved.after == 0 {
			continue
		}
		at := int(moved.digest) & mask
		for s.slots[at].after > 0 {
			at = (at + 1) & mask
		}
		s.slots[at] = moved
	}
}
