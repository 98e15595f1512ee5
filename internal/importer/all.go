package importer

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/git-jp/git-jp/blobs"
)

// maxAtOnce is how many sessions are imported at a time: enough to wait for the disk with some
// while others are read. Each may need as much memory as the largest.
const maxAtOnce = 4

// maxWaiting is how many of a part are saved at a time. They are in memory already, and saving is
// waiting for the disk, which writes the records of all who wait in one go.
const maxWaiting = 16

// A part of an import is saved together, which costs a few waits for the disk in all: as many
// sessions as maxPart, and no more than have maxPartBytes, unless it is one. What becomes of them
// is in memory until then. Of fewer than minJoint each is saved by itself: syncing a file system
// waits for what others wrote.
const (
	maxPart      = 32
	maxPartBytes = 16 << 20
	minJoint     = 8
)

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
		for len(found) > 0 {
			n := partOf(found)
			for _, r := range im.together(ctx, found[:n]) {
				if !yield(r) {
					return
				}
			}
			found = found[n:]
		}
	}
}

// partOf returns how many of the sessions are saved together.
func partOf(found []Found) int {
	bytes := int64(0)
	for n, f := range found[:min(len(found), maxPart)] {
		if bytes += f.Size; n > 0 && bytes > maxPartBytes {
			return n
		}
	}
	return min(len(found), maxPart)
}

// together imports a part.
func (im *Importer) together(ctx context.Context, found []Found) []Result {
	results := make([]Result, len(found))
	if len(found) < minJoint {
		each(len(found), atOnce(), func(i int) { results[i] = im.one(ctx, found[i]) })
		return results
	}
	var joints joints
	defer joints.close()
	parts := make([]*prepared, len(found))
	order := largestFirst(found)
	each(len(found), atOnce(), func(i int) {
		i = order[i]
		f := found[i]
		results[i] = Result{Found: f, Err: cmp.Or(f.Err, ctx.Err())}
		if results[i].Err != nil {
			return
		}
		p := im.prepare(ctx, f.Dialect, f.Session, joints.batch)
		results[i].Outcome, results[i].Err = p.out, p.err
		if p.batch != nil {
			parts[i] = p
		}
	})
	if !im.Dry {
		failed := joints.commit()
		for _, p := range parts {
			if p != nil {
				p.err = failed[p.batch]
			}
		}
	}
	creation{im}.all(ctx, parts)
	each(len(found), maxWaiting, func(i int) {
		if parts[i] == nil {
			return
		}
		if results[i].Err = ctx.Err(); results[i].Err == nil {
			results[i].Outcome, results[i].Err = im.finish(ctx, parts[i])
		}
	})
	return results
}

// largestFirst returns the sessions by number, so that none of many is left for one processor when
// the others are done.
func largestFirst(found []Found) []int {
	order := make([]int, len(found))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(found[b].Size, found[a].Size)
	})
	return order
}

// atOnce returns how many sessions are read at a time.
func atOnce() int { return min(runtime.GOMAXPROCS(0)+1, maxAtOnce) }

// each calls f for each number below n, for some of them at a time.
func each(n, atOnce int, f func(i int)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(n, atOnce) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	workers.Wait()
}

// joints are the joint batches of a part, one for each store.
type joints struct {
	mu  sync.Mutex
	all map[*blobs.Store]*blobs.Joint
}

func (j *joints) batch(s *blobs.Store) *blobs.Batch {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.all == nil {
		j.all = map[*blobs.Store]*blobs.Joint{}
	}
	if j.all[s] == nil {
		j.all[s] = s.NewJoint()
	}
	return j.all[s].NewBatch()
}

// commit returns the errors of batches.
func (j *joints) commit() map[*blobs.Batch]error {
	failed := map[*blobs.Batch]error{}
	for _, joint := range j.all {
		maps.Copy(failed, joint.Commit())
	}
	return failed
}

func (j *joints) close() {
	for _, joint := range j.all {
		_ = joint.Close() // what was to be written is, or is told
	}
}

func (im *Importer) one(ctx context.Context, f Found) Result {
	r := Result{Found: f, Err: cmp.Or(f.Err, ctx.Err())}
	if r.Err == nil {
		r.Outcome, r.Err = im.Import(ctx, f.Dialect, f.Session)
	}
	return r
}
