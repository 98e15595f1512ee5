package threeway

import (
	"fmt"
	"slices"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"pgregory.net/rapid"
)

// alike makes two sets of small numbers the same if they share one, and counts the comparisons.
func alike(asked *int) likeness[[]int] {
	return likeness[[]int]{
		same: func(a, b []int) bool {
			*asked++
			return slices.ContainsFunc(b, func(n int) bool { return slices.Contains(a, n) })
		},
		of: func(s []int) []blobs.Hash {
			var all []blobs.Hash
			for _, n := range s {
				*asked++
				all = append(all, blobs.Sum(fmt.Append(nil, n)))
			}
			return all
		},
	}
}

// Long lists are paired as if each were compared with each.
func TestPairUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lists := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 9), 0, 3), 0, 8)
		as, bs := lists.Draw(rt, "as"), lists.Draw(rt, "bs")
		rest := rapid.Bool().Draw(rt, "rest")
		like := alike(new(int))
		var got, want [][2][]int
		left := pairUp(as, bs, like, rest, func(a, b []int) { got = append(got, [2][]int{a, b}) })
		free, alone := slices.Clone(as), [][]int(nil)
		for _, b := range bs {
			i := slices.IndexFunc(free, func(a []int) bool { return like.same(a, b) })
			if i < 0 {
				alone = append(alone, b)
				continue
			}
			want = append(want, [2][]int{free[i], b})
			free = slices.Delete(free, i, i+1)
		}
		for rest && len(free) > 0 && len(alone) > 0 {
			want = append(want, [2][]int{free[0], alone[0]})
			free, alone = free[1:], alone[1:]
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || fmt.Sprint(left) != fmt.Sprint(alone) {
			rt.Fatalf("%v and %v: %v, left %v; want %v, left %v", as, bs, got, left, want, alone)
		}
	})
}

func TestPairUpIsLinear(t *testing.T) {
	const n = 3000
	var as, bs [][]int
	for i := range n {
		as, bs = append(as, []int{i}), append(bs, []int{3*n/2 - i}) // half have a partner
	}
	asked := 0
	pairUp(as, bs, alike(&asked), true, func(a, b []int) {})
	if asked > 2*n {
		t.Errorf("%d lists were asked %d times", 2*n, asked)
	}
}
