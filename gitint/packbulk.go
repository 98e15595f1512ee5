package gitint

import (
	"cmp"
	"context"
	"hash"
	"runtime"
	"slices"
	"strconv"
	"sync"
)

// A packedObject is one that was read, by its number in the question. One whose size is not wanted
// has no kind, and no content.
type packedObject struct {
	index int
	size  int64
	object
}

const (
	packedTogether = 64 // are handed over at once
	packedBytes    = 256 << 10
	maxPackReaders = 4
)

// readPacked reads in this process what lies in packs: beside git it takes no pipe, and all
// processors. f is called one at a time. What is elsewhere is left, as is whatever is not
// exactly as it should be: each object is held against its name, and others know better what
// is wrong. Where wanted is not nil only objects of the sizes that it wants are read.
func (r *Repo) readPacked(
	ctx context.Context, ids []OID, wanted func(size int64) bool, f func(packedObject) error,
) (left []int, err error) {
	all, leave, err := r.usePacks(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	places, left := findPacked(all, ids)
	slices.SortFunc(places, func(a, b packPlace) int {
		return cmp.Or(a.pack-b.pack, cmp.Compare(a.offset, b.offset))
	})
	passed, err := r.eachPacked(ctx, packJob{all, ids, wanted, places}, f)
	return append(left, passed...), err
}

// usePacks returns the packs that can be read in this process, until they are left.
func (r *Repo) usePacks(ctx context.Context) (all []*pack, leave func(), err error) {
	shape, err := r.shape(ctx)
	if err != nil || !shape.objectsInProcess || shape.partial {
		return nil, func() {}, err
	}
	all, leave, _ = r.objects.packs.use(shape.objectDirs) // git has the others
	return all, leave, nil
}

// notPacked returns those of the objects that no pack lists.
func (r *Repo) notPacked(ctx context.Context, ids []OID) ([]OID, error) {
	all, leave, err := r.usePacks(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	_, elsewhere := findPacked(all, ids)
	return some(ids, elsewhere), nil
}

// A packJob is what there is to read.
type packJob struct {
	packs  []*pack
	ids    []OID
	wanted func(size int64) bool
	places []packPlace
}

// eachPacked calls f with the objects, which several readers read: each a part of a pack,
// since deltas are near their bases.
func (r *Repo) eachPacked(
	ctx context.Context, job packJob, f func(packedObject) error,
) (passed []int, err error) {
	ctx, stop := context.WithCancel(ctx)
	found := make(chan []packedObject, maxPackReaders)
	var group sync.WaitGroup
	n := min(runtime.GOMAXPROCS(0), maxPackReaders, len(job.places)/packedTogether+1)
	missed := make([][]int, n)
	for i := range n {
		part := job
		part.places = job.places[i*len(job.places)/n : (i+1)*len(job.places)/n]
		group.Go(func() { missed[i] = part.read(ctx, found) })
	}
	go func() {
		group.Wait()
		close(found)
	}()
	for some := range found {
		for _, o := range some {
			if err != nil {
				break
			}
			if o.kind != "" {
				r.reads.Add(1)
			}
			err = f(o)
		}
		if err != nil {
			stop()
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	stop()
	return slices.Concat(missed...), err
}

// read reads the objects in the order of the pack, and returns those that it could not.
func (j packJob) read(ctx context.Context, found chan<- []packedObject) (missed []int) {
	reader := newPackReader(j.packs)
	var sum objectSum
	some := make([]packedObject, 0, packedTogether)
	bytes := 0 // in some
	hand := func() bool {
		bytes = 0
		select {
		case found <- some:
			some = make([]packedObject, 0, packedTogether)
			return true
		case <-ctx.Done():
			return false
		}
	}
	for i, p := range j.places {
		o, err := j.one(reader, &sum, i)
		if err != nil {
			missed = append(missed, p.index)
			continue
		}
		some = append(some, o)
		bytes += len(o.data)
		if (len(some) == packedTogether || bytes > packedBytes) && !hand() {
			return missed
		}
	}
	hand()
	return missed
}

// one reads the object of place i.
func (j packJob) one(reader *packReader, sum *objectSum, i int) (packedObject, error) {
	p := j.places[i]
	at := packAddress{p.pack, p.offset}
	if !reader.near.has(at) {
		reader.near.size = j.ahead(i)
	}
	if j.wanted != nil {
		size, err := reader.size(at)
		if err != nil || !j.wanted(size) {
			return packedObject{index: p.index, size: size}, err
		}
	}
	obj, err := reader.read(at)
	if err == nil && sum.of(obj, j.ids[p.index].size) != j.ids[p.index] {
		err = errPack
	}
	return packedObject{p.index, int64(len(obj.data)), obj}, err
}

// ahead returns how much of a pack to read for place i: what is wanted next too, if that is near.
func (j packJob) ahead(i int) int {
	const near = 2 * farSize
	first, last := j.places[i], j.places[i]
	for _, p := range j.places[i+1 : min(i+packedTogether, len(j.places))] {
		if p.pack != first.pack || p.offset-last.offset > near ||
			p.offset-first.offset > nearSize-farSize {
			break
		}
		last = p
	}
	return int(last.offset-first.offset) + farSize
}

// An objectSum is object.id without a new hash for each object.
type objectSum struct {
	hash hash.Hash
	buf  []byte
}

func (s *objectSum) of(obj object, size uint8) OID {
	if s.hash == nil {
		s.hash = newHash(size)
	}
	s.hash.Reset()
	s.buf = append(append(s.buf[:0], obj.kind...), ' ')
	s.buf = append(strconv.AppendInt(s.buf, int64(len(obj.data)), 10), 0)
	s.hash.Write(s.buf)
	s.hash.Write(obj.data)
	return oidOf(s.hash.Sum(s.buf[:0]))
}
