package parallel_test

import (
	"sync/atomic"
	"testing"

	"github.com/git-jp/git-jp/internal/parallel"
)

func TestEach(t *testing.T) {
	for _, n := range []int{0, 1, 3, 100} {
		calls := make([]int, n)
		var running, most atomic.Int64
		parallel.Each(n, 4, func(i int) {
			now := running.Add(1)
			for was := most.Load(); now > was && !most.CompareAndSwap(was, now); was = most.Load() {
			}
			calls[i]++
			running.Add(-1)
		})
		for i, c := range calls {
			if c != 1 {
				t.Errorf("%d of %d: %d calls", i, n, c)
			}
		}
		if most.Load() > 4 {
			t.Errorf("%d: %d calls at once", n, most.Load())
		}
	}
}
