package gitint

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// objects answers questions about objects: in this process where that is right,
// else, and whenever that fails or finds nothing, through git.
type objects struct {
	mu      sync.Mutex // one question at a time
	store   *goStore   // nil where go-git cannot read
	ready   bool       // whether store is decided
	partial bool
	trees   map[OID][]treeEntry
	known   int // entries in trees
	batch   *catFile
	check   *catFile
}

// ReadObject returns the content of an object of any kind. An object of more
// than limit bytes is an *ObjectSizeError; 0 is no limit. The other errors are
// *MissingObjectError and *CorruptObjectError.
func (r *Repo) ReadObject(ctx context.Context, id OID, limit int64) ([]byte, error) {
	obj, err := r.readObject(ctx, id, limit)
	return obj.data, err
}

// ObjectSize returns the size of an object's content.
func (r *Repo) ObjectSize(ctx context.Context, id OID) (int64, error) {
	r.objects.mu.Lock()
	defer r.objects.mu.Unlock()
	inProcess := errNotHere
	if store, err := r.goStore(ctx); err != nil {
		return 0, err
	} else if store != nil {
		n, err := store.size(id)
		if err == nil {
			return n, nil
		}
		inProcess = err
	}
	if r.promised(inProcess) {
		return 0, &MissingObjectError{OID: id, Promised: true}
	}
	answer, err := r.askCheck(ctx, id)
	return answer.size, r.objectError(ctx, id, inProcess, err)
}

// HasObject returns which of the objects are not here.
func (r *Repo) HasObject(ctx context.Context, ids []OID) (missing []OID, err error) {
	r.objects.mu.Lock()
	defer r.objects.mu.Unlock()
	store, err := r.goStore(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		switch err := r.has(ctx, store, id); {
		case errors.Is(err, errNotHere):
			missing = append(missing, id)
		case err != nil:
			return nil, fmt.Errorf("look for object %s: %w", id, err)
		}
	}
	return missing, nil
}

func (r *Repo) has(ctx context.Context, store *goStore, id OID) error {
	if store != nil {
		if err := store.has(id); err == nil || r.promised(err) {
			return err
		}
	}
	_, err := r.askCheck(ctx, id)
	return err
}

// promised reports whether our own store not having an object is the last word.
// In a partial clone it is, because git would want to fetch it.
func (r *Repo) promised(ours error) bool {
	return r.objects.store != nil && errors.Is(ours, errNotHere) && r.objects.partial
}

func (r *Repo) readObject(ctx context.Context, id OID, limit int64) (object, error) {
	r.objects.mu.Lock()
	defer r.objects.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return object{}, err
	}
	inProcess := errNotHere
	if store, err := r.goStore(ctx); err != nil {
		return object{}, err
	} else if store != nil {
		obj, err := store.read(id, limit)
		if err == nil || errors.Is(err, errTooLarge) {
			return obj, err
		}
		inProcess = err
	}
	if r.promised(inProcess) {
		return object{}, &MissingObjectError{OID: id, Promised: true}
	}
	obj, err := r.askBatch(ctx, id, limit)
	return obj, r.objectError(ctx, id, inProcess, err)
}

// objectError makes of the two answers, ours and git's, the error of the caller.
func (r *Repo) objectError(ctx context.Context, id OID, ours, git error) error {
	corrupt := new(CorruptObjectError)
	switch {
	case git == nil, errors.Is(git, errTooLarge), errors.As(git, &corrupt):
		return git
	case errors.Is(git, errNotHere) && errors.Is(ours, errNotHere):
		shape, err := r.shape(ctx)
		return errors.Join(err, &MissingObjectError{OID: id, Promised: shape.partial})
	case errors.As(ours, &corrupt):
		return ours
	case errors.Is(git, errNotHere):
		// Git calls missing what it cannot read, we know that it is there.
		return &CorruptObjectError{OID: id, Reason: "it cannot be read", Err: ours}
	}
	return fmt.Errorf("read object %s: %w", id, git)
}

// goStore is the store of this process, or nil where git must be asked.
func (r *Repo) goStore(ctx context.Context) (*goStore, error) {
	if r.objects.ready {
		return r.objects.store, nil
	}
	shape, err := r.shape(ctx)
	if err != nil {
		return nil, err
	}
	if shape.objectsInProcess {
		r.objects.store = newGoStore(shape.objectDirs)
	}
	r.objects.partial = shape.partial
	r.objects.ready = true
	return r.objects.store, nil
}

func (r *Repo) askBatch(ctx context.Context, id OID, limit int64) (object, error) {
	if id.IsZero() {
		return object{}, errNotHere
	}
	c, err := r.keep(&r.objects.batch, "--batch")
	if err != nil {
		return object{}, err
	}
	obj, err := c.read(ctx, id, limit)
	return obj, r.settleBroken(ctx, &r.objects.batch, err)
}

func (r *Repo) askCheck(ctx context.Context, id OID) (catFileAnswer, error) {
	if id.IsZero() {
		return catFileAnswer{}, errNotHere
	}
	c, err := r.keep(&r.objects.check, "--batch-check")
	if err != nil {
		return catFileAnswer{}, err
	}
	answer, err := c.check(ctx, id)
	return answer, r.settleBroken(ctx, &r.objects.check, err)
}

func (r *Repo) keep(slot **catFile, mode string) (*catFile, error) {
	if *slot == nil {
		c, err := r.startCatFile(mode)
		if err != nil {
			return nil, err
		}
		*slot = c
	}
	return *slot, nil
}

// settleBroken drops a process that cannot be used any more. In a partial clone
// an older git dies of a promised object that it may not fetch: it is not here.
func (r *Repo) settleBroken(ctx context.Context, slot **catFile, err error) error {
	if broken := new(brokenCatFileError); !errors.As(err, &broken) {
		return err
	}
	(*slot).close()
	*slot = nil
	if s, shapeErr := r.shape(ctx); shapeErr == nil && s.partial && ctx.Err() == nil {
		return errNotHere
	}
	return err
}

// close ends what reading objects keeps open. The next question opens it again.
func (o *objects) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	var err error
	if o.store != nil {
		err = o.store.close()
	}
	for _, slot := range []**catFile{&o.batch, &o.check} {
		if *slot != nil {
			(*slot).close()
			*slot = nil
		}
	}
	return err
}
