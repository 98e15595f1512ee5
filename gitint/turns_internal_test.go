package gitint

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// TestTurns lets many goroutines call at once a function that fails at its third call.
func TestTurns(t *testing.T) {
	failed := errors.New("failed")
	var all turns
	var group sync.WaitGroup
	var running atomic.Int64
	calls, errs := 0, make([]error, 100)
	for i := range errs {
		group.Go(func() {
			errs[i] = all.take(func() error {
				if running.Add(1) > 1 {
					t.Error("two calls at the same time")
				}
				runtime.Gosched()
				running.Add(-1)
				if calls++; calls == 3 {
					return failed
				}
				return nil
			})
		})
	}
	group.Wait()
	fine := 0
	for _, err := range errs {
		switch {
		case err == nil:
			fine++
		case !errors.Is(err, failed):
			t.Error(err)
		}
	}
	if calls != 3 || fine != 2 {
		t.Errorf("%d calls, of which %d ended well", calls, fine)
	}
}
