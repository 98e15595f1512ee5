package gitint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/git-jp/git-jp/gitint/internal/git"
	"github.com/git-jp/git-jp/gitint/internal/object"
	"github.com/git-jp/git-jp/gitint/internal/odb"
)

// heavyIndex is the size of all pack indexes from which git is asked first. This package reads an
// index completely for the first object; git maps it, for the price of a process of 1 ms.
const heavyIndex = 1 << 20

// objects reads objects: in this process if that is safe, and through git otherwise, or if that
// fails or finds nothing. If reading in this process is safe but slow, git is asked first.
type objects struct {
	mu    sync.Mutex // one read at a time
	db    *odb.DB    // nil if git reads
	ready bool       // whether db is determined
	heavy bool       // git is asked first
	trees map[OID][]Entry
	known int // entries in trees
	batch git.CatFile
	check git.CatFile
}

// ReadObject returns the content of an object of any kind. An object of more than limit bytes is an
// *ObjectSizeError; a limit of 0 means that of the repository for files of unknown name. Other
// errors are *MissingObjectError and *CorruptObjectError.
func (r *Repo) ReadObject(ctx context.Context, id OID, limit int64) ([]byte, error) {
	obj, err := r.readObject(ctx, id, limit)
	return obj.Data, err
}

// ObjectSize returns the size of an object's content.
func (r *Repo) ObjectSize(ctx context.Context, id OID) (int64, error) {
	r.objects.mu.Lock()
	defer r.objects.mu.Unlock()
	return ask(ctx, r, id, question[int64]{
		ours: func(db *odb.DB) (int64, error) { return db.Size(id) },
		git: func() (int64, error) {
			answer, err := r.askCheck(ctx, id)
			return answer.Size, err
		},
	})
}

// HasObject returns which of the objects are missing.
func (r *Repo) HasObject(ctx context.Context, ids []OID) (missing []OID, err error) {
	if len(ids) >= bulkFrom {
		db, err := r.db(ctx)
		if err != nil {
			return nil, err
		}
		if db != nil {
			ids = some(ids, db.NotPacked(ids))
		}
	}
	gone, err := r.absent(ctx, ids)
	if err != nil {
		return nil, err
	}
	single := func(i int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if gone[i] {
			return nil
		}
		switch err := r.has(ctx, ids[i]); {
		case errors.Is(err, object.ErrMissing):
			gone[i] = true
		case err != nil:
			return fmt.Errorf("look for object %s: %w", ids[i], err)
		}
		return nil
	}
	here := func(int, git.Answer) error { return nil }
	if err := r.inBulk(ctx, git.Heads, ids, single, here); err != nil {
		return nil, err
	}
	for i, id := range ids {
		if gone[i] {
			missing = append(missing, id)
		}
	}
	return missing, nil
}

// has checks one object for HasObject. It exists if either this package or git has it.
func (r *Repo) has(ctx context.Context, id OID) error {
	r.objects.mu.Lock()
	defer r.objects.mu.Unlock()
	db, err := r.openDB(ctx)
	if err != nil {
		return err
	}
	if r.objects.heavy {
		if _, err := r.askCheck(ctx, id); err == nil {
			return nil
		}
	}
	if db != nil {
		err := db.Find(id)
		if err == nil {
			return nil
		}
		if promised, failed := r.promised(ctx, err); promised || failed != nil {
			return cmp.Or(failed, err)
		}
	}
	_, err = r.askCheck(ctx, id)
	return err
}

// promised reports whether an object counts as missing because the store of this process lacks it.
// In a partial clone it does, because git would fetch it.
func (r *Repo) promised(ctx context.Context, ours error) (bool, error) {
	if r.objects.db == nil || !errors.Is(ours, object.ErrMissing) {
		return false, nil
	}
	return r.Partial(ctx)
}

func (r *Repo) readObject(ctx context.Context, id OID, limit int64) (object.Object, error) {
	r.objects.mu.Lock()
	defer r.objects.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return object.Object{}, err
	}
	if limit <= 0 {
		limit = r.limits.OfAny()
	}
	r.reads.Add(1)
	return ask(ctx, r, id, question[object.Object]{
		ours: func(db *odb.DB) (object.Object, error) { return db.Read(id, limit) },
		git:  func() (object.Object, error) { return r.askBatch(ctx, id, limit) },
	})
}

// A question is a read of an object, by this process or by git.
type question[T any] struct {
	ours func(*odb.DB) (T, error)
	git  func() (T, error)
}

// ask asks both until one succeeds, the faster one first. The caller holds the lock.
func ask[T any](ctx context.Context, r *Repo, id OID, q question[T]) (none T, err error) {
	db, err := r.openDB(ctx)
	if err != nil {
		return none, err
	}
	answered := func(err error) bool { return err == nil || object.IsTooLarge(err) }
	if r.objects.heavy {
		if v, err := q.git(); answered(err) || ctx.Err() != nil {
			return v, r.objectError(ctx, id, object.ErrMissing, err)
		}
	}
	ours := object.ErrMissing
	if db != nil {
		v, err := q.ours(db)
		if answered(err) {
			return v, err
		}
		ours = err
	}
	switch promised, err := r.promised(ctx, ours); {
	case err != nil:
		return none, err
	case promised:
		return none, &MissingObjectError{OID: id, Promised: true}
	}
	v, err := q.git()
	return v, r.objectError(ctx, id, ours, err)
}

// objectError combines the errors of this process and git.
func (r *Repo) objectError(ctx context.Context, id OID, ours, git error) error {
	corrupt := new(CorruptObjectError)
	switch {
	case git == nil, object.IsTooLarge(git), errors.As(git, &corrupt):
		return git
	case errors.Is(git, object.ErrMissing) && errors.Is(ours, object.ErrMissing):
		partial, err := r.Partial(ctx)
		return errors.Join(err, &MissingObjectError{OID: id, Promised: partial})
	case errors.As(ours, &corrupt):
		return ours
	case errors.Is(git, object.ErrMissing):
		// Git reports unreadable objects as missing, but the object exists.
		return &CorruptObjectError{OID: id, Reason: "it cannot be read", Err: ours}
	}
	return fmt.Errorf("read object %s: %w", id, git)
}

// db returns the objects as this process reads them, nil if git must be asked.
func (r *Repo) db(ctx context.Context) (*odb.DB, error) {
	r.objects.mu.Lock()
	defer r.objects.mu.Unlock()
	return r.openDB(ctx)
}

// openDB is db for a caller that holds the lock.
func (r *Repo) openDB(ctx context.Context) (*odb.DB, error) {
	if r.objects.ready {
		return r.objects.db, nil
	}
	l, err := r.layout(ctx)
	if err != nil {
		return nil, err
	}
	heavy := l.objectsInProcess && odb.IndexSize(l.objectDirs) >= heavyIndex
	if heavy {
		partial, err := r.Partial(ctx)
		if err != nil {
			return nil, err
		}
		heavy = !partial
	}
	if l.objectsInProcess {
		r.objects.db = odb.Open(l.objectDirs)
	}
	r.objects.heavy, r.objects.ready = heavy, true
	return r.objects.db, nil
}

// absent returns which of many objects a partial clone lacks: most of those that a check of a lazy
// clone asks for. If that does not pay, or cannot be determined, absent reports none.
func (r *Repo) absent(ctx context.Context, ids []OID) ([]bool, error) {
	gone := make([]bool, len(ids))
	if len(ids) < bulkFrom { // also without a repository
		return gone, nil
	}
	partial, err := r.Partial(ctx)
	if err != nil || !partial {
		return gone, err
	}
	db, err := r.db(ctx)
	if err != nil || db == nil {
		return gone, err
	}
	return db.Absent(ids), ctx.Err()
}

// PackedObjects estimates how many objects the packs have, 0 if that cannot be read. An object has
// at least 28 bytes in the index of its pack (gitformat-pack(5)).
func (r *Repo) PackedObjects(ctx context.Context) int {
	l, err := r.layout(ctx)
	if err != nil {
		return 0
	}
	return int(odb.IndexSize(l.objectDirs) / 28)
}

func (r *Repo) askBatch(ctx context.Context, id OID, limit int64) (object.Object, error) {
	obj, err := r.objects.batch.Read(ctx, id, limit)
	return obj, r.settleBroken(ctx, err)
}

func (r *Repo) askCheck(ctx context.Context, id OID) (git.Answer, error) {
	answer, err := r.objects.check.Check(ctx, id)
	return answer, r.settleBroken(ctx, err)
}

// settleBroken settles an error of a git that has ended. In a partial clone an older git dies on a
// promised object that it may not fetch: the object is missing.
func (r *Repo) settleBroken(ctx context.Context, err error) error {
	if _, broken := errors.AsType[*git.BrokenError](err); !broken {
		return err
	}
	if partial, _ := r.Partial(ctx); partial && ctx.Err() == nil {
		return object.ErrMissing
	}
	return err
}

// close closes what reading objects keeps open. The next read opens it again.
func (o *objects) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closeDB()
	o.batch.Close()
	o.check.Close()
}

// closeDB closes the files of objects, for a caller that holds the lock.
func (o *objects) closeDB() {
	if o.db != nil {
		o.db.Close()
	}
}

// HashBlob returns the id of a blob with this content in the repository, whether it exists or not.
func (r *Repo) HashBlob(content []byte) object.ID {
	return object.Object{Kind: object.KindBlob, Data: content}.ID(r.idSize())
}
