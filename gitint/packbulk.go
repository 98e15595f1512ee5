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

// A packedObject is one that was read, by its number in the question.
type packedObject struct {
	index int
	object
}

const (
	packedTogether = 64 // are handed over at once
	packedBytes    = 256 << 10
	maxPackReaders = 4
)

// readPacked reads in this process what lies in packs: beside git it takes no pipe, and all
// processors. f is called as by readObjects. What is elsewhere is left, as is whatever is not
// exactly as it should be: each object is held against its name, and others know better what
// is wrong.
func (r *Repo) readPacked(
	ctx context.Context, ids []OID, f func(i int, obj object) error,
) (left []int, err error) {
	job, left, leave, err := r.packJob(ctx, ids)
	if err != nil {
		return nil, err
	}
	defer leave()
	passed, err := r.eachPacked(ctx, job, f)
	return append(left, passed...), err
}

// packedSizes is readPacked for the sizes alone, which it sets.
func (r *Repo) packedSizes(ctx context.Context, ids []OID, sizes []int64) (left []int, err error) {
	job, left, leave, err := r.packJob(ctx, ids)
	if err != nil {
		return nil, err
	}
	defer leave()
	passed := job.inParts(func(part packJob) []int { return part.sizes(ctx, sizes) })
	return append(left, passed...), ctx.Err()
}

// packJob finds the objects in packs, until those are left, and returns which are elsewhere.
func (r *Repo) packJob(
	ctx context.Context, ids []OID,
) (job packJob, left []int, leave func(), err error) {
	all, leave, err := r.usePacks(ctx)
	if err != nil {
		return packJob{}, nil, nil, err
	}
	places, left := findPacked(all, ids)
	slices.SortFunc(places, func(a, b packPlace) int {
		return cmp.Or(a.pack-b.pack, cmp.Compare(a.offset, b.offset))
	})
	return packJob{all, ids, places}, left, leave, nil
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
	places []packPlace
}

// eachPacked calls f with the objects, which several readers read.
func (r *Repo) eachPacked(
	ctx context.Context, job packJob, f func(i int, obj object) error,
) (passed []int, err error) {
	ctx, stop := context.WithCancel(ctx)
	found := make(chan []packedObject, maxPackReaders)
	var missed []int
	go func() {
		missed = job.inParts(func(part packJob) []int { return part.read(ctx, found) })
		close(found)
	}()
	for some := range found {
		for _, o := range some {
			if err == nil {
				r.reads.Add(1)
				err = f(o.index, o.object)
			}
		}
		if err != nil {
			stop()
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	stop()
	return missed, err
}

// inParts calls f with parts of the job at the same time, each a part of a pack, since deltas are
// near their bases. It returns what any returns.
func (j packJob) inParts(f func(packJob) []int) []int {
	n := min(runtime.GOMAXPROCS(0), maxPackReaders, len(j.places)/packedTogether+1)
	missed := make([][]int, n)
	var group sync.WaitGroup
	for i := range n {
		part := j
		part.places = j.places[i*len(j.places)/n : (i+1)*len(j.places)/n]
		group.Go(func() { missed[i] = f(part) })
	}
	group.Wait()
	return slices.Concat(missed...)
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
		obj, err := reader.read(j.at(reader, i))
		if err != nil || sum.of(obj, j.ids[p.index].size) != j.ids[p.index] {
			missed = append(missed, p.index)
			continue
		}
		some = append(some, packedObject{p.index, obj})
		bytes += len(obj.data)
		if (len(some) == packedTogether || bytes > packedBytes) && !hand() {
			return missed
		}
	}
	hand()
	return missed
}

// sizes sets the sizes of the objects, and returns of which it could not.
func (j packJob) sizes(ctx context.Context, sizes []int64) (missed []int) {
	reader := newPackReader(j.packs)
	for i, p := range j.places {
		size, err := reader.size(j.at(reader, i))
		if err != nil || ctx.Err() != nil {
			missed = append(missed, p.index)
			continue
		}
		sizes[p.index] = size
	}
	return missed
}

// at is the address of place i, for which it prepares the reader.
func (j packJob) at(reader *packReader, i int) packAddress {
	at := packAddress{j.places[i].pack, j.places[i].offset}
	if !reader.near.has(at) {
		reader.near.size = j.ahead(i)
	}
	return at
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
