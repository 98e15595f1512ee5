package gitint

import "context"

// An AtOnce reads many objects as its repository does, but calls f from several goroutines at once,
// one time for each object. It is for callers that process each object, which a single goroutine
// would delay. Objects that are not in packs or larger than 4 MiB are passed to f one at a time,
// while nothing else is read.
type AtOnce struct{ repo *Repo }

// AtOnce returns a reader that calls back from several goroutines at once.
func (r *Repo) AtOnce() AtOnce { return AtOnce{r} }

// ReadObjects is [Repo.ReadObjects] with concurrent calls of f.
func (a AtOnce) ReadObjects(
	ctx context.Context, ids []OID, f func(i int, content []byte, err error) error,
) error {
	return a.repo.readObjects(ctx, ids, eachAtOnce, func(i int, obj object, err error) error {
		return f(i, obj.own(), err)
	})
}

// ReadObjectsOf is [Repo.ReadObjectsOf] with concurrent calls of f.
func (a AtOnce) ReadObjectsOf(
	ctx context.Context, ids []OID, wanted func(size int64) bool,
	f func(i int, size int64, content []byte, err error) error,
) error {
	return a.repo.readObjectsOf(ctx, objectsOf{ids, wanted, eachAtOnce}, f)
}

// ReadTrees is [Repo.ReadTrees] with concurrent calls of f.
func (a AtOnce) ReadTrees(
	ctx context.Context, trees []OID, f func(i int, t TreeData) error,
) error {
	return a.repo.readTrees(ctx, trees, eachAtOnce, f)
}
