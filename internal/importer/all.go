package importer

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/parallel"
)

// maxAtOnce limits how many sessions are read at a time: enough that some wait for the disk while
// others are read. Each may need as much memory as the largest.
const maxAtOnce = 4

// reading has room for the sessions that are being read: a part is begun when the last session of
// the part before is, which may take long.
var reading = make(chan struct{}, maxAtOnce)

// maxWaiting limits how many sessions of a part are saved at a time. They are in memory already,
// and saving waits for the disk, which writes the records of all waiting processes together.
const maxWaiting = 16

// A part of an import is saved together, which needs only a few waits for the disk: up to maxPart
// sessions of maxPartBytes together, or one larger session. The conversations are in memory until
// then. A session of unknown size counts as unknownBytes. Fewer than minJoint sessions are saved
// one by one: syncing a file system also waits for writes of other programs.
const (
	maxPart      = 128
	maxPartBytes = 16 << 20
	unknownBytes = maxPartBytes / 32
	minJoint     = 8
)

// A Result is the outcome for a session that was found.
type Result struct {
	Found
	Outcome Outcome
	Err     error
}

// set sets the outcome. That a copy has a turn otherwise is no failure of an import, which would be
// one each time.
func (r *Result) set(o Outcome, err error) {
	if r.Copy && errors.Is(err, ErrConflict) {
		o.Apart, err = &copyError{r.Path}, nil
	}
	r.Outcome, r.Err = o, err
}

// All imports sessions, and yields the outcome of each in their order,
// whichever ends first, but exports of conversations last: another session may be the one that
// such a conversation is imported from. Shorter copies of sessions follow the longer ones, whose
// conversations they add to. If the caller stops, All waits for the imports in progress.
func (im *Importer) All(ctx context.Context, found []Found) iter.Seq[Result] {
	found = slices.Clone(found)
	slices.SortStableFunc(found, func(a, b Found) int {
		return cmp.Compare(rank(a), rank(b))
	})
	return func(yield func(Result) bool) {
		if im.Hold {
			_ = im.Workspace.MakeUserDir() // before several need it; they report the error
		}
		inParts(ctx, found, im.begin, func(r Result) bool {
			return yield(r) && im.spare(ctx, r, yield)
		})
	}
}

// spare imports a copy of a session that could not be imported, and says nothing more: the first
// that can be. It reports whether the caller wants more.
func (im *Importer) spare(
	ctx context.Context, r Result, yield func(Result) bool,
) (more bool) {
	for _, f := range r.spares {
		if r.Err == nil || ctx.Err() != nil {
			break
		}
		if r = im.one(ctx, f); r.Err == nil && !yield(r) {
			return false
		}
	}
	return true
}

func inParts(
	ctx context.Context, found []Found, begin func(context.Context, []Found) *part,
	yield func(Result) bool,
) {
	var saved, p, next *part
	defer func() { p.discard(); next.discard() }()
	for len(found) > 0 {
		if p, next = next, nil; p == nil {
			p = begin(ctx, found)
		}
		// The sync that makes the conversations of one part durable is the one that the contents of
		// the next part need, unless that is still being read: then the wait costs nothing.
		if !p.isRead() && !saved.tell(yield) {
			return
		}
		<-p.last
		if found = found[len(p.found):]; isApart(found) {
			next = begin(ctx, found)
		}
		<-p.ready
		if !saved.tell(yield) {
			return
		}
		p.save(ctx)
		saved, p = p, nil
	}
	saved.tell(yield)
}

// rank is the order of what is imported after what it adds to: all of a lower rank.
func rank(f Found) (n int) {
	if f.Export != nil {
		n = 2
	}
	if f.Copy {
		n++
	}
	return n
}

// partOf returns how many of the sessions are saved together.
func partOf(found []Found) int {
	bytes := int64(0)
	for n, f := range found[:min(len(found), maxPart)] {
		bytes += cmp.Or(f.Size, unknownBytes)
		if n > 0 && (bytes > maxPartBytes || rank(f) != rank(found[0])) {
			return n
		}
	}
	return min(len(found), maxPart)
}

// isApart reports whether the next part may be read before the part in front of it is saved: it is
// saved as one part, and no session in it continues a conversation that the earlier part may
// create.
func isApart(found []Found) bool {
	found = found[:partOf(found)]
	return len(found) >= minJoint &&
		!slices.ContainsFunc(found, func(f Found) bool { return rank(f) > 0 })
}

// A part is a group of sessions that are saved together, or one by one if they are few.
type part struct {
	im      *Importer
	found   []Found
	results []Result
	jobs    []*job // nil for a session that is not saved
	joints  joints
	last    chan struct{} // closed when nothing is left to begin: each session is being read
	ready   chan struct{} // closed when all sessions are read

	created func() error // settles what was created together; nil for nothing
	lost    error        // why what was created may be lost
}

func (p *part) isRead() bool {
	select {
	case <-p.ready:
		return true
	default:
		return false
	}
}

// begin starts to read the first part of found.
func (im *Importer) begin(ctx context.Context, found []Found) *part {
	n := partOf(found)
	p := &part{
		im: im, found: found[:n], results: make([]Result, n), jobs: make([]*job, n),
		last: make(chan struct{}), ready: make(chan struct{}),
	}
	if n < minJoint {
		close(p.last)
		close(p.ready)
		return p
	}
	go func() {
		defer close(p.ready)
		p.prepare(ctx)
	}()
	return p
}

// discard waits for a part that will not be saved. The part may be nil.
func (p *part) discard() {
	if p != nil {
		<-p.ready
		p.joints.close()
	}
}

func (p *part) prepare(ctx context.Context) {
	order := largestFirst(p.found)
	parallel.Each(len(p.found), atOnce(), func(i int) {
		reading <- struct{}{}
		defer func() { <-reading }()
		if i == len(order)-1 {
			close(p.last)
		}
		i = order[i]
		f := p.found[i]
		r := &p.results[i]
		*r = Result{Found: f, Err: cmp.Or(f.Err, ctx.Err())}
		if r.Err != nil {
			return
		}
		j := p.im.newJob(f.Dialect, f.Session)
		r.Err = j.prepare(ctx, p.joints.batch)
		r.Outcome = j.out
		if j.batch != nil {
			p.jobs[i] = j
		}
	})
}

// save saves a part after its sessions are read.
func (p *part) save(ctx context.Context) {
	if len(p.found) < minJoint {
		parallel.Each(len(p.found), atOnce(), func(i int) {
			p.results[i] = p.im.one(ctx, p.found[i])
		})
		return
	}
	defer p.joints.close()
	if !p.im.Dry {
		failed := p.joints.commit()
		for _, j := range p.jobs {
			if j != nil {
				j.err = failed[j.batch]
			}
		}
	}
	p.created = p.im.createAll(ctx, p.jobs)
	p.settleForOthers()
	parallel.Each(len(p.found), maxWaiting, func(i int) {
		r := &p.results[i]
		if p.jobs[i] != nil {
			if r.Err = ctx.Err(); r.Err == nil {
				r.set(p.jobs[i].finish(ctx))
			}
		}
		if errors.Is(r.Err, errOvertaken) {
			*r = p.im.one(ctx, r.Found)
		}
	})
}

// settleForOthers makes everything durable so far if there are sessions that are saved one by one,
// or read again because another import was faster: they may refer to contents of the part, and
// continue conversations that were just created.
func (p *part) settleForOthers() {
	others := slices.DeleteFunc(slices.Clone(p.jobs), func(j *job) bool {
		return j == nil || j.err != nil || j.made != nil
	})
	again := slices.ContainsFunc(p.results, func(r Result) bool {
		return errors.Is(r.Err, errOvertaken)
	})
	if len(others) == 0 && !again {
		return
	}
	p.settle()
	err := cmp.Or(p.lost, p.joints.settle())
	for _, j := range others {
		j.err = err
	}
}

// settle makes the conversations that were created together durable, and unlocks them.
func (p *part) settle() {
	if p.created != nil {
		p.lost = p.created()
		p.created = nil
	}
}

// tell yields the results of a saved part, once, when its conversations are durable. The part may
// be nil.
func (p *part) tell(yield func(Result) bool) bool {
	if p == nil {
		return true
	}
	p.settle()
	results := p.results
	p.results = nil
	for i, r := range results {
		if j := p.jobs[i]; j != nil && j.made != nil {
			r.Err = cmp.Or(r.Err, p.lost)
		}
		if !yield(r) {
			return false
		}
	}
	return true
}

// largestFirst returns the indexes of the sessions by size, so that no large one is left for one
// processor when the others are done.
func largestFirst(found []Found) []int {
	order := lists.Numbers(len(found))
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(found[b].Size, found[a].Size)
	})
	return order
}

// atOnce returns how many sessions are read at a time.
func atOnce() int { return min(runtime.GOMAXPROCS(0)+1, maxAtOnce) }

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

// commit commits the batches and returns their errors.
func (j *joints) commit() map[*blobs.Batch]error {
	failed := map[*blobs.Batch]error{}
	for _, joint := range j.all {
		maps.Copy(failed, joint.Commit())
	}
	return failed
}

// settle makes durable what was committed.
func (j *joints) settle() error {
	var errs []error
	for _, joint := range j.all {
		errs = append(errs, joint.Settle())
	}
	return errors.Join(errs...)
}

func (j *joints) close() {
	for _, joint := range j.all {
		joint.Close()
	}
}

func (im *Importer) one(ctx context.Context, f Found) Result {
	r := Result{Found: f, Err: cmp.Or(f.Err, ctx.Err())}
	if r.Err == nil {
		r.set(im.Import(ctx, f.Dialect, f.Session))
	}
	return r
}
