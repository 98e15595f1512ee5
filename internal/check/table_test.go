package check

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/git-jp/git-jp/blobs"
)

// TestPropertyTable compares a table with a map, with hashes that share their keys.
func TestPropertyTable(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		got, want := table{first: make(map[uint64]*blob)}, make(map[blobs.Hash]*blob)
		for range rapid.IntRange(0, 60).Draw(rt, "steps") {
			h := blobs.Hash{
				0: byte(rapid.IntRange(0, 1).Draw(rt, "key")),
				9: byte(rapid.IntRange(0, 3).Draw(rt, "rest")),
			}
			b := got.at(h)
			if was := want[h]; was != nil && was != b || b.hash != h {
				rt.Fatalf("%v is another one", h)
			}
			want[h] = b
			if rapid.Bool().Draw(rt, "remove") {
				got.remove(b)
				delete(want, h)
			}
		}
		for h, b := range want {
			if got.at(h) != b {
				rt.Fatalf("%v is lost", h)
			}
		}
		n := 0
		for _, b := range got.first {
			for ; b != nil; b = b.next {
				n++
			}
		}
		if n != len(want) {
			rt.Fatalf("%d blobs, want %d", n, len(want))
		}
	})
}
