package parallel

import (
	"sync"
	"sync/atomic"
)

// Each calls f with each number below n, from up to atOnce goroutines, and waits for all calls.
// Each goroutine takes the lowest number that is left.
func Each(n, atOnce int, f func(i int)) {
	var next atomic.Int64 // a channel would wake a goroutine for each number
	var workers sync.WaitGroup
	for range min(n, atOnce) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	workers.Wait()
}
