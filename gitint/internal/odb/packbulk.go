package odb

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/git-jp/git-jp/gitint/internal/object"
)

// A Packed is an object that was read, by its index in the request. One whose size is not wanted
// has no kind and no content.
type Packed struct {
	Index int
	Size  int64
	object.Object
}

const (
	packedNear     = 64 // objects that are looked at to decide how much of a pack to read
	maxPackReaders = 4
	// packedShare is the fewest objects that a reader takes at once.
	packedShare = 1 << 6
	// packedEach is the number of objects from which another reader pays, because it begins without
	// cached bases.
	packedEach = 1 << 9
)

// ReadPacked reads packed objects in this process: unlike git it needs no pipe, and uses all
// processors. It calls f from several goroutines at once. It leaves objects outside of packs, and
// those with any fault, for git, which reports the reason, and returns their indexes. If wanted is
// not nil, only objects of the accepted sizes are read.
func (d *DB) ReadPacked(
	ctx context.Context, ids []object.ID, wanted func(size int64) bool, f func(Packed) error,
) (left []int, err error) {
	all, leave, _ := d.packs.use(d.dirs) // git has the others
	defer leave()
	places, left := findPacked(all, ids)
	slices.SortFunc(places, func(a, b packPlace) int {
		if a.pack != b.pack {
			return a.pack - b.pack
		}
		return cmp.Compare(a.offset, b.offset)
	})
	passed, err := packJob{all, ids, wanted, places}.run(ctx, f)
	return append(left, passed...), err
}

// NotPacked returns the indexes of the objects that no pack lists.
func (d *DB) NotPacked(ids []object.ID) []int {
	all, leave, _ := d.packs.use(d.dirs)
	defer leave()
	_, elsewhere := findPacked(all, ids)
	return elsewhere
}

// A packJob has the objects to read.
type packJob struct {
	packs  []*pack
	ids    []object.ID
	wanted func(size int64) bool
	places []packPlace
}

// run calls f from several readers at once and returns the objects that they could not read. Each
// reads one contiguous part of the pack after the other, because deltas are near their bases. The
// parts get smaller, so that all readers end at about the same time, however large the objects are.
// An error of f stops the reading and is returned.
func (j packJob) run(
	ctx context.Context, f func(Packed) error,
) (passed []int, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	n := min(runtime.GOMAXPROCS(0), maxPackReaders)
	var mu sync.Mutex // guards places and passed
	places := j.places
	next := func(missed []int) []packPlace {
		mu.Lock()
		defer mu.Unlock()
		passed = append(passed, missed...)
		if ctx.Err() != nil {
			return nil
		}
		k := min(len(places), max(len(places)/(2*n), packedShare))
		some := places[:k]
		places = places[k:]
		return some
	}
	var group sync.WaitGroup
	for range min(n, len(places)/packedEach+1) {
		group.Go(func() {
			reader, part := newPackReader(j.packs), j
			var missed []int
			for part.places = next(nil); len(part.places) > 0; part.places = next(missed) {
				var err error
				if missed, err = part.read(ctx, reader, f); err != nil {
					stop(err)
				}
			}
		})
	}
	group.Wait()
	return passed, context.Cause(ctx)
}

// read calls f with the objects in the order of the pack and returns those that it could not read.
func (j packJob) read(
	ctx context.Context, reader *packReader, f func(Packed) error,
) (missed []int, err error) {
	var sum object.Hasher
	for i, p := range j.places {
		o, err := j.one(reader, &sum, i)
		if err != nil {
			missed = append(missed, p.index)
			continue
		}
		if err := cmp.Or(f(o), ctx.Err()); err != nil {
			return missed, err
		}
	}
	return missed, nil
}

// one reads the object at index i of places.
func (j packJob) one(reader *packReader, sum *object.Hasher, i int) (Packed, error) {
	p := j.places[i]
	at := packAddress{p.pack, p.offset}
	if !reader.near.has(at) {
		reader.near.size = j.ahead(i)
	}
	if j.wanted != nil {
		size, err := reader.size(at)
		if err != nil || !j.wanted(size) {
			return Packed{Index: p.index, Size: size}, err
		}
	}
	obj, err := reader.read(at)
	if err == nil {
		err = sum.Verify(obj, j.ids[p.index])
	}
	return Packed{p.index, int64(len(obj.Data)), obj}, err
}

// ahead returns how much of a pack to read for index i: including the next wanted objects, if they
// are near.
func (j packJob) ahead(i int) int {
	const near = 2 * farSize
	first, last := j.places[i], j.places[i]
	for _, p := range j.places[i+1 : min(i+packedNear, len(j.places))] {
		if p.pack != first.pack || p.offset-last.offset > near ||
			p.offset-first.offset > nearSize-farSize {
			break
		}
		last = p
	}
	return int(last.offset-first.offset) + farSize
}
