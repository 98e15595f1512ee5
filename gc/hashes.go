package gc

import (
	"github.com/git-jp/git-jp/blobs"
)

// hashes numbers contents, so that a hundred thousand of them can be listed again and again
// at four bytes each.
type hashes struct {
	number map[blobs.Hash]int32
	all    []blobs.Hash
}

func newHashes() *hashes { return &hashes{number: make(map[blobs.Hash]int32)} }

func (s *hashes) add(h blobs.Hash) int32 {
	n, ok := s.number[h]
	if !ok {
		n = int32(len(s.all)) //nolint:gosec // two thousand million contents do not fit a disk
		s.number[h] = n
		s.all = append(s.all, h)
	}
	return n
}

func (s *hashes) find(h blobs.Hash) (int32, bool) {
	n, ok := s.number[h]
	return n, ok
}
