package gc

import (
	"encoding/binary"
	"testing"

	"github.com/git-jp/git-jp/blobs"
)

// TestHashes numbers contents that differ at one end or the other.
func TestHashes(t *testing.T) {
	const n = 5000
	s := newHashes()
	s.reserve(10)
	at := func(i int) (h blobs.Hash) {
		end := h[:8]
		if i%2 == 1 {
			end = h[len(h)-8:]
		}
		binary.LittleEndian.PutUint64(end, uint64(i))
		return h
	}
	for range 2 {
		for i := range n {
			if got := s.add(at(i)); int(got) != i {
				t.Fatalf("content %d has the number %d", i, got)
			}
		}
	}
	for i := range 2 * n {
		if got, ok := s.find(at(i)); ok != (i < n) || ok && int(got) != i {
			t.Fatalf("content %d: found %v, number %d", i, ok, got)
		}
	}
	if 2*len(s.all) > len(s.slots) {
		t.Errorf("%d contents in %d slots", len(s.all), len(s.slots))
	}
}
