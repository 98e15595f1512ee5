package check

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/git-jp/git-jp/blobs"
)

// TestPropertyTable compares a table with a map.
func TestPropertyTable(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		got, want := newTable(), make(map[blobs.Hash]*blob)
		got.grow(rapid.IntRange(0, 50).Draw(rt, "room"))
		for range rapid.IntRange(0, 200).Draw(rt, "steps") {
			h := blobs.Hash{
				0: byte(rapid.IntRange(0, 1).Draw(rt, "first")),
				9: byte(rapid.IntRange(0, 40).Draw(rt, "rest")),
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
		for _, b := range got.slots {
			if b != nil {
				n++
			}
		}
		if n != len(want) || n != got.n {
			rt.Fatalf("%d blobs, want %d", n, len(want))
		}
	})
}
