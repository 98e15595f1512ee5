package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/regular"
)

// A verdict is the result for a blob's file. An empty state means that it is intact.
type verdict struct {
	state        State
	detail, next string
	size         int64 // of the content, -1 if it was not read
	pointer      bool  // the content is elsewhere, in Git LFS
	fetched      bool  // with pointer: it is in the local store, and not in the working tree
}

// fits reports whether nothing is known against the reference. It is true without a verdict.
func (v *verdict) fits(ref blobs.Ref) bool {
	return v == nil || v.state == "" && (v.size < 0 || v.size == ref.Size)
}

// present returns the verdict for a file that was not opened.
func present() *verdict { return &verdict{size: -1} }

// Sizes between which a file may be a Git LFS pointer: its three lines are not shorter, and the
// specification does not allow it to be longer.
const (
	minPointer = 110
	maxPointer = 1024
)

// A verifier judges the files of blobs, each object once.
type verifier struct {
	opts  *Options
	cache *refs.Cache
	memo  map[memoKey]*verdict
	fine  *verdict // shared by all that were not opened
	// pointed is shared by all Git LFS pointers.
	pointed  *verdict
	pointers bool // there was a pointer
	alone    bool // there is no other source, so no verdict is needed twice
	turn     regular.Turn
	read     int
	total    int
	lazy     bool         // the source may name blobs that are not here
	away     atomic.Int64 // how many blobs that were to be read are not here
}

type memoKey struct {
	hash blobs.Hash
	id   gitint.OID
}

func newVerifier(opts *Options, cache *refs.Cache) *verifier {
	return &verifier{
		opts: opts, cache: cache, memo: make(map[memoKey]*verdict),
		fine: present(), pointed: &verdict{size: -1, pointer: true},
	}
}

// A job is one blob to judge.
type job struct {
	*blob
	store *store
	file  int64 // the size of the file
}

// path returns the path from the root of the source.
func (j job) path() string { return j.store.path(j.hash) }

// A setter sets the verdict of a blob.
type setter func(*blob, *verdict)

// judge sets the verdicts of the blobs, in any order, and reports whether all are sound.
func (v *verifier) judge(ctx context.Context, src Source, s *store, wanted []*blob) (
	sound bool, err error,
) {
	sound = true
	v.lazy = IsLazy(ctx, src)
	set := func(b *blob, got *verdict) {
		b.verdict = got
		if !v.alone && !b.id.IsZero() && (got != v.fine || b.look == unseen || b.look == away) {
			v.memo[memoKey{b.hash, b.id}] = got
		}
		sound = sound && got.fits(b.ref())
		v.pointers = v.pointers || got.pointer
	}
	unknown := v.unknown(wanted, set)
	// In the order of their paths, so that the files of a directory are looked up together.
	slices.SortFunc(unknown, func(a, b *blob) int { return bytes.Compare(a.hash[:], b.hash[:]) })
	var open []job
	most := objectsAtOnce
	if v.lazy {
		most = pathsAtOnce
	}
	for group := range slices.Chunk(unknown, most) {
		jobs := lists.Map(group, func(b *blob) job { return job{blob: b, store: s} })
		left, err := v.stat(ctx, src, jobs, set)
		if err != nil {
			return false, err
		}
		open = append(open, left...)
	}
	return sound, v.inspectAll(ctx, src, open, set)
}

// unknown sets the verdicts that do not depend on the file, and returns the other blobs, reusing
// the slice.
func (v *verifier) unknown(wanted []*blob, set setter) []*blob {
	unknown := wanted[:0]
	for _, b := range wanted {
		if b.mode == absent {
			continue
		}
		if !b.mode.IsRegular() {
			set(b, &verdict{state: Missing, detail: notAFile(b.mode), size: -1})
			continue
		}
		if known := v.memo[memoKey{b.hash, b.id}]; known != nil && !b.id.IsZero() {
			set(b, known)
			continue
		}
		v.total++
		if b.look == sound {
			set(b, v.fine)
			continue
		}
		unknown = append(unknown, b)
	}
	return unknown
}

// notAFile describes what is in place of a file.
func notAFile(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "its path is a symbolic link"
	case mode.IsDir():
		return "its path is a directory"
	default:
		return "its path is not a regular file"
	}
}

// stat sets the verdicts of missing files and, unless content is wanted, of those that cannot be
// pointers. It returns the others.
func (v *verifier) stat(
	ctx context.Context, src Source, jobs []job, set setter,
) ([]job, error) {
	if len(jobs) == 0 {
		return nil, nil
	}
	sizes, err := v.sizes(ctx, src, jobs)
	if err != nil {
		return nil, fmt.Errorf("look up %d blobs of %s: %w", len(jobs), src.Name(), err)
	}
	lost, err := v.lost(ctx, src, jobs, sizes)
	if err != nil {
		return nil, err
	}
	var open []job
	for i, j := range jobs {
		switch j.file = sizes[i]; {
		case j.file < 0 && len(lost) > 0 && lost[j.path()]:
			set(j.blob, objectLost())
		case j.file < 0:
			set(j.blob, v.objectAbsent())
		case j.file == 0: // a power failure leaves empty files
			set(j.blob, &verdict{state: Corrupt, size: -1, detail: "has an empty file"})
		case v.opts.Content || j.file >= minPointer && j.file <= maxPointer:
			open = append(open, j)
		default:
			set(j.blob, v.fine)
		}
	}
	return open, nil
}

func (v *verifier) sizes(ctx context.Context, src Source, jobs []job) ([]int64, error) {
	if o, ok := src.(objectSource); ok {
		return objectSizes(ctx, o, jobs)
	}
	files := lists.Map(jobs, func(j job) File { return File{j.path(), j.id} })
	return src.Sizes(ctx, files)
}

// objectSizes looks for the objects, except for those that a survey did not find.
func objectSizes(ctx context.Context, o objectSource, jobs []job) ([]int64, error) {
	sizes, ids := make([]int64, len(jobs)), make([]gitint.OID, 0, len(jobs))
	asked := make([]int, 0, len(jobs))
	for i, j := range jobs {
		sizes[i] = -1
		if j.look != away {
			ids, asked = append(ids, j.id), append(asked, i)
		}
	}
	found, err := o.ObjectSizes(ctx, ids)
	for i, size := range found {
		sizes[asked[i]] = size
	}
	return sizes, err
}

// objectAbsent returns the verdict for a file in the tree whose object git does not have.
func (v *verifier) objectAbsent() *verdict {
	if v.lazy {
		v.away.Add(1)
		return v.fine
	}
	if v.opts.partial() {
		return &verdict{
			state: Unchecked, size: -1,
			detail: "was not fetched: this is a partial clone",
			next:   Refetch,
		}
	}
	return objectLost()
}

// objectLost returns the verdict for a missing object that no remote has.
func objectLost() *verdict {
	return &verdict{
		state: Missing, size: -1,
		detail: "is in the tree, but git has no object for it", next: "git fsck --full",
	}
}

// lost returns the paths of files that neither a lazy clone nor a remote has.
func (v *verifier) lost(
	ctx context.Context, src Source, jobs []job, sizes []int64,
) (map[string]bool, error) {
	p, ok := src.(promiser)
	if !ok || !v.lazy {
		return nil, nil
	}
	var absent []File
	for i, j := range jobs {
		if sizes[i] < 0 {
			absent = append(absent, File{j.path(), j.id})
		}
	}
	found, err := p.Lost(ctx, absent)
	if err != nil {
		return nil, fmt.Errorf("look up what is not here of %s: %w", src.Name(), err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	return lists.Set(lists.Map(found, func(f File) string { return f.Path })), nil
}

// A loaded is a job with a function that returns the file.
type loaded struct {
	job
	read func() ([]byte, error)
}

// inspectAll opens the files, several at a time.
func (v *verifier) inspectAll(
	ctx context.Context, src Source, jobs []job, set setter,
) error {
	type result struct {
		blob *blob
		v    *verdict
	}
	if len(jobs) == 0 {
		return ctx.Err()
	}
	work, results := make(chan loaded), make(chan result)
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(jobs)) {
		group.Go(func() {
			for l := range work {
				done := v.turn.Take(l.file)
				got := v.inspect(l.job, l.read)
				l.read = nil // release the file
				done()
				results <- result{l.blob, got}
			}
		})
	}
	var failed error
	go func() {
		failed = v.load(ctx, src, jobs, work)
		close(work)
		group.Wait()
		close(results)
	}()
	done := 0
	for r := range results {
		set(r.blob, r.v)
		done++
		v.opts.progress("blobs", done, len(jobs))
	}
	if v.opts.Content {
		v.read += done
	}
	return errors.Join(failed, ctx.Err())
}

// load hands out the jobs, with the bytes if the source reads many objects at once; otherwise the
// worker that inspects a file reads it.
func (v *verifier) load(
	ctx context.Context, src Source, jobs []job, work chan<- loaded,
) error {
	o, bulk := src.(objectSource)
	var wanted []job
	var ids []gitint.OID
	for _, j := range jobs {
		if bulk && !v.tooLarge(j) && !regular.IsLarge(j.file) {
			wanted, ids = append(wanted, j), append(ids, j.id)
			continue
		}
		read := sync.OnceValues(func() ([]byte, error) { return src.ReadFile(j.path()) })
		select {
		case work <- loaded{j, read}:
		case <-ctx.Done():
			return nil
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return o.ReadObjects(ctx, ids, func(i int, data []byte, err error) error {
		work <- loaded{wanted[i], func() ([]byte, error) { return data, err }}
		return nil
	})
}

// tooLarge reports whether a file is larger than that of any allowed blob.
func (v *verifier) tooLarge(j job) bool {
	limit := v.opts.limits().Max()
	return j.file > limit+limit/64+4096
}

// inspect returns the verdict for one file.
func (v *verifier) inspect(j job, read func() ([]byte, error)) *verdict {
	if v.tooLarge(j) {
		return &verdict{
			state: Oversize, size: -1,
			detail: fmt.Sprintf("has a file of %s, more than any blob's", bytesText(j.file)),
		}
	}
	is, err := v.isPointer(j, read)
	if err == nil && !is && !v.opts.Content {
		return v.fine
	}
	var data []byte
	if err == nil {
		data, err = read()
	}
	switch {
	case err != nil:
		return v.unreadable(err)
	case is:
		return v.pointer(j, data)
	default:
		return content(j, data, v.opts.limits().Max())
	}
}

// isPointer reports whether a file is a Git LFS pointer. The cache remembers files of a pointer's
// size that are not.
func (v *verifier) isPointer(j job, read func() ([]byte, error)) (bool, error) {
	if j.file < minPointer || j.file > maxPointer {
		return false, nil
	}
	return v.cache.IsPointer(j.id, read)
}

// content returns the verdict for the content of a file.
func content(j job, data []byte, limit int64) *verdict {
	err := blobs.Verify(data, j.ref(), limit)
	if err == nil {
		return &verdict{size: j.size}
	}
	if e, ok := errors.AsType[*blobs.SizeError](err); ok {
		if e.Actual >= 0 {
			return &verdict{size: e.Actual}
		}
		return &verdict{
			state: Oversize, size: -1,
			detail: "holds more than the limit of " + bytesText(limit),
		}
	}
	if e, ok := errors.AsType[*blobs.CorruptError](err); ok {
		return &verdict{state: Corrupt, detail: "is corrupt: " + corruption(e), size: -1}
	}
	return &verdict{state: Corrupt, detail: err.Error(), size: -1}
}

func corruption(e *blobs.CorruptError) string {
	if e.Err != nil {
		return e.Reason + ": " + e.Err.Error()
	}
	return e.Reason
}

// unreadable returns the verdict for a file that was listed and cannot be read.
func (v *verifier) unreadable(err error) *verdict {
	if errors.Is(err, fs.ErrNotExist) {
		return v.objectAbsent()
	}
	return &verdict{
		state: Unreadable, detail: "cannot be read: " + err.Error(), next: byMode(err), size: -1,
	}
}

// pointer returns the verdict for a Git LFS pointer, which counts as present as far as can be known
// here. The pointer names the compressed file, so nothing in a reference can be compared with it;
// only the file itself can be verified.
func (v *verifier) pointer(j job, data []byte) *verdict {
	oid, size, ok := blobs.ParsePointer(data)
	switch {
	case v.opts.NoPointers:
		return &verdict{
			state: LFSPointer, size: -1,
			detail: "was not fetched from Git LFS", next: blobs.FetchPointers,
		}
	case !ok:
		return &verdict{
			state: Corrupt, size: -1, detail: "is a malformed Git LFS pointer",
		}
	}
	limit := v.opts.limits().Max()
	if v.opts.LFS == nil || size > limit+limit/64+4096 {
		return v.pointed
	}
	name := path.Join(oid[:2], oid[2:4], oid)
	inTree := j.id.IsZero() // which the commands read as it is
	if !v.opts.Content {
		info, err := fs.Stat(v.opts.LFS, name)
		if err != nil || info.Size() != size {
			return v.pointed
		}
		return &verdict{size: -1, pointer: inTree, fetched: inTree}
	}
	file, err := regular.Read(v.opts.LFS, name, size)
	if err != nil || int64(len(file)) != size {
		return v.pointed
	}
	found := content(j, file, limit)
	if found.state == Corrupt {
		found.next = ByLFS
	}
	found.pointer, found.fetched = inTree, inTree
	return found
}
