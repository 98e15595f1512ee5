package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sync"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/refs"
)

// A verdict is what was found out about a blob's file. An empty state is a sound one.
type verdict struct {
	state        State
	detail, next string
	size         int64 // of the content, -1 when it was not read
}

// fits reports whether nothing speaks against the reference. Where no verdict is
// known, nothing does.
func (v *verdict) fits(ref blobs.Ref) bool {
	return v == nil || v.state == "" && (v.size < 0 || v.size == ref.Size)
}

// present is the verdict on a file that was not opened.
func present() *verdict { return &verdict{size: -1} }

// Sizes between which a file may be a Git LFS pointer: shorter than its three lines
// it cannot be, longer than this it must not be.
const (
	minPointer = 120
	maxPointer = 1024
)

// A verifier judges the files of blobs, each object once.
type verifier struct {
	opts  *Options
	cache *refs.Cache
	memo  map[memoKey]*verdict
	fine  *verdict // shared by all that were not opened
	read  int
	total int
}

type memoKey struct {
	hash blobs.Hash
	id   refs.ObjectID
}

func newVerifier(opts *Options, cache *refs.Cache) *verifier {
	return &verifier{opts: opts, cache: cache, memo: make(map[memoKey]*verdict), fine: present()}
}

// A job is one blob to judge.
type job struct {
	ref  blobs.Ref
	file File
	size int64 // of the file
}

// judge sets the verdicts of the blobs and reports whether all are sound.
func (v *verifier) judge(ctx context.Context, src Source, s *store, hashes []blobs.Hash) (
	sound bool, err error,
) {
	sound = true
	set := func(h blobs.Hash, got *verdict) {
		b := s.blobs[h]
		b.verdict = got
		s.blobs[h] = b
		if b.id != "" {
			v.memo[memoKey{h, b.id}] = got
		}
		sound = sound && got.fits(blobs.Ref{Hash: h, Size: b.size})
	}
	jobs := v.jobs(s, hashes, set)
	v.total += len(jobs)
	jobs, err = v.stat(ctx, src, jobs, set)
	if err != nil {
		return false, err
	}
	return sound, v.inspectAll(ctx, src, jobs, set)
}

// jobs settles what needs no look at the file and returns the rest.
func (v *verifier) jobs(s *store, hashes []blobs.Hash, set func(blobs.Hash, *verdict)) []job {
	jobs := make([]job, 0, len(hashes))
	for _, h := range hashes {
		b, ok := s.blobs[h]
		if !ok || b.mode == absent {
			continue
		}
		if !b.mode.IsRegular() {
			set(h, &verdict{state: Missing, detail: notAFile(b.mode), size: -1})
			continue
		}
		if known := v.memo[memoKey{h, b.id}]; known != nil && b.id != "" {
			set(h, known)
			continue
		}
		jobs = append(jobs, job{blobs.Ref{Hash: h, Size: b.size}, File{s.path(h), b.id}, 0})
	}
	return jobs
}

// notAFile says what stands where a file should.
func notAFile(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link stands at its path"
	case mode.IsDir():
		return "a directory stands at its path"
	default:
		return "what stands at its path is no file"
	}
}

// stat settles the files that are not here and, unless content is wanted, those that
// are and cannot be pointers. It returns the rest.
func (v *verifier) stat(
	ctx context.Context, src Source, jobs []job, set func(blobs.Hash, *verdict),
) ([]job, error) {
	if len(jobs) == 0 {
		return nil, nil
	}
	files := make([]File, len(jobs))
	for i, j := range jobs {
		files[i] = j.file
	}
	sizes, err := src.Sizes(ctx, files)
	if err != nil {
		return nil, fmt.Errorf("look up %d blobs of %s: %w", len(files), src.Name(), err)
	}
	var open []job
	for i, j := range jobs {
		switch j.size = sizes[i]; {
		case j.size < 0:
			set(j.ref.Hash, v.objectAbsent())
		case v.opts.Content || j.size >= minPointer && j.size <= maxPointer:
			open = append(open, j)
		default:
			set(j.ref.Hash, v.fine)
		}
	}
	return open, nil
}

// objectAbsent is the verdict on a file that the tree lists and git has not.
func (v *verifier) objectAbsent() *verdict {
	if v.opts.partial() {
		return &verdict{
			state: Unchecked, size: -1,
			detail: "was not fetched: this is a partial clone",
			next:   refetch,
		}
	}
	return &verdict{
		state: Missing, size: -1,
		detail: "is in the tree, but git has no object for it", next: "git fsck --full",
	}
}

// inspectAll opens the files, several at a time.
func (v *verifier) inspectAll(
	ctx context.Context, src Source, jobs []job, set func(blobs.Hash, *verdict),
) error {
	type result struct {
		hash blobs.Hash
		v    *verdict
	}
	work, results := make(chan job), make(chan result)
	var group sync.WaitGroup
	for range min(v.opts.workers(), len(jobs)) {
		group.Go(func() {
			for j := range work {
				results <- result{j.ref.Hash, v.inspect(src, j)}
			}
		})
	}
	go func() {
		defer close(work)
		for _, j := range jobs {
			select {
			case work <- j:
			case <-ctx.Done():
				return
			}
		}
	}()
	go func() {
		group.Wait()
		close(results)
	}()
	done := 0
	for r := range results {
		set(r.hash, r.v)
		done++
		v.opts.progress("blobs", done, len(jobs))
	}
	if v.opts.Content {
		v.read += done
	}
	return ctx.Err()
}

// inspect opens one file.
func (v *verifier) inspect(src Source, j job) *verdict {
	limit := v.opts.limits().Max()
	if j.size > limit+limit/64+4096 {
		return &verdict{
			state: Oversize, size: -1,
			detail: fmt.Sprintf("has a file of %s, more than any blob's", bytesText(j.size)),
		}
	}
	var data []byte
	read := func() (_ []byte, err error) {
		if data == nil {
			data, err = src.ReadFile(j.file.Path)
		}
		return data, err
	}
	is, err := v.isPointer(j, read)
	if err == nil && !is && !v.opts.Content {
		return v.fine
	}
	if err == nil {
		data, err = read()
	}
	switch {
	case err != nil:
		return v.unreadable(err)
	case is:
		return v.pointer(j, data)
	default:
		return content(j, data, limit)
	}
}

// isPointer remembers of files of a pointer's size that they are none.
func (v *verifier) isPointer(j job, read func() ([]byte, error)) (bool, error) {
	if j.size < minPointer || j.size > maxPointer {
		return false, nil
	}
	return v.cache.IsPointer(j.file.ID, read)
}

// content judges a file by what is in it.
func content(j job, data []byte, limit int64) *verdict {
	err := blobs.Verify(data, j.ref, limit)
	if err == nil {
		return &verdict{size: j.ref.Size}
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

// unreadable is the verdict on a file that was listed and cannot be read.
func (v *verifier) unreadable(err error) *verdict {
	if errors.Is(err, fs.ErrNotExist) {
		return v.objectAbsent()
	}
	return &verdict{state: Unreadable, detail: "cannot be read: " + err.Error(), size: -1}
}

// pointer judges a file of which the tree has only a Git LFS pointer. The pointer names
// the compressed file, so that it can be compared with nothing that a reference says;
// only the file itself can.
func (v *verifier) pointer(j job, data []byte) *verdict {
	missing := &verdict{
		state: LFSPointer, size: -1,
		detail: "was not fetched from Git LFS", next: "git lfs pull",
	}
	oid, size, ok := blobs.ParsePointer(data)
	if v.opts.LFS == nil || !ok {
		return missing
	}
	name := path.Join(oid[:2], oid[2:4], oid)
	if info, err := fs.Stat(v.opts.LFS, name); err != nil || info.Size() != size {
		return missing
	}
	here := &verdict{
		state: Unchecked, size: -1, detail: "is in the local Git LFS store, which was not read",
	}
	limit := v.opts.limits().Max()
	if !v.opts.Content || size > limit+limit/64+4096 {
		return here
	}
	file, err := fs.ReadFile(v.opts.LFS, name)
	if err != nil {
		return here
	}
	return content(j, file, limit)
}
