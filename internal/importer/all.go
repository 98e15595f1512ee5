package importer

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
)

// maxAtOnce is how many sessions are imported at a time: enough to wait for the disk with some
// while others are read. Each may need as much memory as the largest.
const maxAtOnce = 4

// A Result is what became of a session that was found.
type Result struct {
	Found
	Outcome Outcome
	Err     error
}

// All imports sessions, no two of one name, and yields what became of each, in their order
// whatever ends first. Where the caller stops, those that are on their way are waited for.
func (im *Importer) All(ctx context.Context, found []Found) iter.Seq[Result] {
	return func(yield func(Result) bool) {
		if im.Hold {
			_ = im.Workspace.MakeUserDir() // before there are several; whoever needs it is told why
		}
		ctx, cancel := context.WithCancel(ctx)
		done := make([]chan Result, len(found))
		for i := range done {
			done[i] = make(chan Result, 1)
		}
		var next atomic.Int64
		var workers sync.WaitGroup
		defer workers.Wait()
		defer cancel()
		for range min(len(found), runtime.GOMAXPROCS(0)+1, maxAtOnce) {
			workers.Go(func() {
				for i := int(next.Add(1)) - 1; i < len(found); i = int(next.Add(1)) - 1 {
					done[i] <- im.one(ctx, found[i])
				}
			})
		}
		for i := range done {
			if !yield(<-done[i]) {
				return
			}
		}
	}
}

func (im *Importer) one(ctx context.Context, f Found) Result {
	r := Result{Found: f, Err: f.Err}
	if r.Err == nil {
		r.Err = ctx.Err()
	}
	if r.Err == nil {
		r.Outcome, r.Err = im.Import(ctx, f.Dialect, f.Session)
	}
	return r
}
