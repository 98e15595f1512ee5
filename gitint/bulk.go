package gitint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/git-jp/git-jp/gitint/internal/git"
	"github.com/git-jp/git-jp/gitint/internal/object"
	"github.com/git-jp/git-jp/gitint/internal/odb"
	"github.com/git-jp/git-jp/internal/lists"
)

// bulkFrom is the number of objects from which a separate process, which gets all names before its
// first answer is read, is faster than a search for each: a process costs as much as a hundred
// reads.
const bulkFrom = 200

// ObjectSizes returns the sizes of many objects in their order, -1 for a missing one. The zero id
// names a missing object.
func (r *Repo) ObjectSizes(ctx context.Context, ids []OID) ([]int64, error) {
	sizes := make([]int64, len(ids))
	none := func(int64) bool { return false }
	set := func(i int, size int64, _ []byte, _ error) error {
		sizes[i] = size
		return nil
	}
	return sizes, r.AtOnce().ReadObjectsOf(ctx, ids, none, set)
}

// ReadObjectsOf calls f with the size of each object, in no order but one at a time: -1 for a
// missing one. If wanted accepts the size, f also gets the content, or the error that
// [Repo.ReadObject] has for the object. An error of f ends the reading and is returned.
func (r *Repo) ReadObjectsOf(
	ctx context.Context, ids []OID, wanted func(size int64) bool,
	f func(i int, size int64, content []byte, err error) error,
) error {
	var t turns
	each := func(i int, size int64, content []byte, err error) error {
		return t.take(func() error { return f(i, size, content, err) })
	}
	return r.AtOnce().ReadObjectsOf(ctx, ids, wanted, each)
}

// ReadObjectsOf is [Repo.ReadObjectsOf] with concurrent calls of f.
func (a AtOnce) ReadObjectsOf(
	ctx context.Context, ids []OID, wanted func(size int64) bool,
	f func(i int, size int64, content []byte, err error) error,
) (err error) {
	r := a.repo
	left := lists.Numbers(len(ids))
	if len(ids) >= bulkFrom {
		left, err = r.readPacked(ctx, ids, wanted, func(o odb.Packed) error {
			return f(o.Index, o.Size, o.Own(), nil)
		})
		if err != nil {
			return err
		}
	}
	sizes, err := r.sizes(ctx, some(ids, left))
	if err != nil {
		return err
	}
	read := make([]int, 0, len(left)) // of left
	for i, n := range left {
		if wanted(sizes[i]) {
			read = append(read, i)
		} else if err := f(n, sizes[i], nil, nil); err != nil {
			return err
		}
	}
	of := lists.Map(read, func(i int) OID { return ids[left[i]] })
	return a.ReadObjects(ctx, of, func(k int, content []byte, err error) error {
		return f(left[read[k]], sizes[read[k]], content, err)
	})
}

// readPacked reads packed objects in this process, with calls of f from several goroutines at once,
// and returns the numbers of those that it left.
func (r *Repo) readPacked(
	ctx context.Context, ids []OID, wanted func(size int64) bool, f func(odb.Packed) error,
) (left []int, err error) {
	db, err := r.db(ctx)
	if err != nil || db == nil {
		return lists.Numbers(len(ids)), err
	}
	return db.ReadPacked(ctx, ids, wanted, func(o odb.Packed) error {
		if o.Kind != "" {
			r.reads.Add(1)
		}
		return f(o)
	})
}

// some returns the objects with these numbers.
func some(ids []OID, numbers []int) []OID {
	return lists.Map(numbers, func(n int) OID { return ids[n] })
}

// sizes is ObjectSizes for objects that may be outside of packs.
func (r *Repo) sizes(ctx context.Context, ids []OID) ([]int64, error) {
	sizes := make([]int64, len(ids))
	absent, err := r.absent(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("look for %d objects: %w", len(ids), err)
	}
	single := func(i int) error {
		if absent[i] {
			sizes[i] = -1
			return ctx.Err()
		}
		n, err := r.ObjectSize(ctx, ids[i])
		if _, ok := errors.AsType[*MissingObjectError](err); ok {
			n, err = -1, nil
		}
		sizes[i] = n
		return err
	}
	err = r.inBulk(ctx, git.Heads, ids, single, func(i int, a git.Answer) error {
		sizes[i] = a.Size
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("sizes of %d objects: %w", len(ids), err)
	}
	return sizes, nil
}

// ReadObjects calls f with the content of each object, in no order but one at a time. Its error is
// that of [Repo.ReadObject] for the object; an error of f ends the reading and is returned. f may
// keep the content.
func (r *Repo) ReadObjects(
	ctx context.Context, ids []OID, f func(i int, content []byte, err error) error,
) error {
	var t turns
	return r.AtOnce().ReadObjects(ctx, ids, func(i int, content []byte, err error) error {
		return t.take(func() error { return f(i, content, err) })
	})
}

// ReadObjects is [Repo.ReadObjects] with concurrent calls of f.
func (a AtOnce) ReadObjects(
	ctx context.Context, ids []OID, f func(i int, content []byte, err error) error,
) error {
	return a.repo.readObjects(ctx, ids, func(i int, obj object.Object, err error) error {
		return f(i, obj.Own(), err)
	})
}

// readObjects calls f from several goroutines at once.
func (r *Repo) readObjects(
	ctx context.Context, ids []OID, f func(i int, obj object.Object, err error) error,
) error {
	if len(ids) >= bulkFrom {
		left, err := r.readPacked(ctx, ids, nil, func(o odb.Packed) error {
			return f(o.Index, o.Object, nil)
		})
		if err != nil || len(left) == 0 {
			return err
		}
		tell := f
		ids = some(ids, left)
		f = func(i int, obj object.Object, err error) error { return tell(left[i], obj, err) }
	}
	limit := r.limits.OfAny()
	fit, err := r.fitting(ctx, ids, limit, f)
	if err != nil {
		return err
	}
	single := func(i int) error {
		if fit[i] != ids[i] {
			return nil // f got the error
		}
		obj, err := r.readObject(ctx, ids[i], limit)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return f(i, obj, err)
	}
	return r.inBulk(ctx, git.Contents, fit, single, func(i int, a git.Answer) error {
		r.reads.Add(1)
		return f(i, a.Object, nil)
	})
}

// fitting calls f with an error for objects that are too large, and replaces them by the zero id:
// git would decompress all that it is asked for.
func (r *Repo) fitting(
	ctx context.Context, ids []OID, limit int64, f func(i int, obj object.Object, err error) error,
) ([]OID, error) {
	pays, err := r.bulkPays(ctx, len(ids))
	if err != nil || !pays {
		return ids, err
	}
	fit := slices.Clone(ids)
	// A read of a single object asks for its size first, and reports its errors.
	alone := func(int) error { return ctx.Err() }
	err = r.inBulk(ctx, git.Heads, ids, alone, func(i int, a git.Answer) error {
		if a.Size <= limit {
			return nil
		}
		fit[i] = OID{}
		return f(i, object.Object{}, &ObjectSizeError{OID: ids[i], Size: a.Size, Max: limit})
	})
	return fit, err
}

// StreamBlob calls f with the content of a blob of any size, which neither this process nor git
// keeps in memory. It verifies the hash when f has read the content to its end.
func (r *Repo) StreamBlob(ctx context.Context, id OID, f func(io.Reader) error) error {
	size, err := r.ObjectSize(ctx, id)
	if err != nil {
		return err
	}
	sum := object.NewHash(id.Size())
	fmt.Fprintf(sum, "%s %d\x00", object.KindBlob, size)
	r.reads.Add(1)
	err = r.git.Stream(ctx, git.Command{Args: []string{"cat-file", object.KindBlob, id.String()}},
		func(out io.Reader) error {
			out = io.TeeReader(out, sum)
			if err := f(out); err != nil {
				return err
			}
			_, err := io.Copy(io.Discard, out)
			return err
		})
	if err != nil {
		return fmt.Errorf("read object %s: %w", id, err)
	}
	if actual := object.IDOf(sum.Sum(nil)); actual != id {
		return object.Mismatch(id, actual)
	}
	return nil
}

// inBulk asks one git process for all objects if that pays. Objects without an answer, and all
// after the process failed, are passed to single, which can report the error.
func (r *Repo) inBulk(
	ctx context.Context, mode string, ids []OID,
	single func(int) error, f func(i int, a git.Answer) error,
) error {
	pays, err := r.bulkPays(ctx, len(ids))
	if err != nil {
		return err
	}
	next, passed := 0, []int(nil)
	if pays {
		next, passed, err = r.git.CatAll(ctx, mode, ids, f)
		if err != nil {
			return err
		}
	}
	for _, i := range passed {
		if err := single(i); err != nil {
			return err
		}
	}
	for i := next; i < len(ids); i++ {
		if err := single(i); err != nil {
			return err
		}
	}
	return nil
}

// bulkPays reports whether so many objects are read in bulk. In a partial clone they are not: a git
// that does not know GIT_NO_LAZY_FETCH ends at the first missing one.
func (r *Repo) bulkPays(ctx context.Context, n int) (bool, error) {
	if n < bulkFrom {
		return false, nil
	}
	shape, err := r.shape(ctx)
	if err != nil {
		return false, err
	}
	return !shape.partial, nil
}
