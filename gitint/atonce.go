package gitint

import "sync"

// An AtOnce reads many objects as its repository does, but calls f from several goroutines at once,
// one time for each object. It is for callers that process each object, which a single goroutine
// would delay. Objects that are not in packs or larger than 4 MiB are passed to f one at a time,
// while nothing else is read.
type AtOnce struct{ repo *Repo }

// AtOnce returns a reader that calls back from several goroutines at once.
func (r *Repo) AtOnce() AtOnce { return AtOnce{r} }

// turns lets one goroutine at a time call a function, and none after a call has failed.
type turns struct {
	mu     sync.Mutex
	failed error
}

func (t *turns) take(f func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failed == nil {
		t.failed = f()
	}
	return t.failed
}
