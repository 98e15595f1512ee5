package gitint

import "context"

// An AtOnce reads many objects as its repository does, but calls f by several goroutines at once,
// for each object once: where more is done with an object than to look at it, nobody waits for
// one who does all of it. What is not in packs, or larger than 4 MiB, comes one at a time, when
// nothing else is read.
type AtOnce struct{ repo *Repo }

// AtOnce returns how to read objects by several goroutines at once.
func (r *Repo) AtOnce() AtOnce { return AtOnce{r} }

// ReadObjects is [Repo.ReadObjects] by several at once.
func (a AtOnce) ReadObjects(
	ctx context.Context, ids []OID, f func(i int, content []byte, err error) error,
) error {
	return a.repo.readObjects(ctx, ids, eachAtOnce, func(i int, obj object, err error) error {
		return f(i, obj.own(), err)
	})
}

// ReadObjectsOf is [Repo.ReadObjectsOf] by several at once.
func (a AtOnce) ReadObjectsOf(
	ctx context.Context, ids []OID, wanted func(size int64) bool,
	f func(i int, size int64, content []byte, err error) error,
) error {
	return a.repo.readObjectsOf(ctx, objectsOf{ids, wanted, eachAtOnce}, f)
}

// ReadTrees is [Repo.ReadTrees] by several at once.
func (a AtOnce) ReadTrees(
	ctx context.Context, trees []OID, f func(i int, t TreeData) error,
) error {
	return a.repo.readTrees(ctx, trees, eachAtOnce, f)
}
