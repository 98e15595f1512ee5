package blobs

import (
	"errors"
	"os"
	"slices"
	"sync"

	"github.com/git-jp/git-jp/internal/atomicfile"
)

// A Batch writes many blobs with few syncs. Its blobs must not be read or referred to before
// [Batch.Commit]; after that they are as durable as after [Store.Write]. A crash leaves some of the
// blobs, each complete. A Batch is safe for concurrent use, and is faster with several writing
// goroutines.
type Batch struct {
	s     *Store
	joint bool // it is part of a [Joint]

	mu    sync.Mutex // guards the following
	dir   *os.Root   // the store's directory, or nil if the batch is empty
	group *atomicfile.Group
	seen  map[Hash]struct{} // written to the group or kept since the last Commit
}

// NewBatch returns an empty batch. Every batch ends with Commit or Discard.
func (s *Store) NewBatch() *Batch { return &Batch{s: s, seen: map[Hash]struct{}{}} }

// Write is like [Store.Write], but the blob is visible only after Commit. It may also return an
// error of an earlier Write.
func (b *Batch) Write(content []byte) (Ref, error) {
	ref := RefTo(content)
	if err := b.write(ref, content); err != nil {
		return Ref{}, writeError(ref, err)
	}
	return ref, nil
}

// WriteFile is [Batch.Write] with the bytes of a blob's file, which the new file will have: those
// that git has as an object. They have to be intact.
func (b *Batch) WriteFile(h Hash, gz []byte) error {
	ref := Ref{Hash: h, Size: statedSize(gz)}
	_, err := Decode(gz, ref)
	if err == nil {
		err = b.add(ref, func() []byte { return gz })
	}
	if err != nil {
		return writeError(ref, err)
	}
	return nil
}

func (b *Batch) write(ref Ref, content []byte) error {
	return b.add(ref, func() []byte { return Encode(content) })
}

// add adds a blob unless the store has it intact.
func (b *Batch) add(ref Ref, file func() []byte) error {
	if err := b.s.limits.Check(ref.Size); err != nil {
		return err
	}
	dir, group, err := b.claim(ref.Hash)
	if err != nil || group == nil || b.s.keep(dir, ref.Hash.Path(), ref) {
		return err
	}
	return group.Add(ref.Hash.Path(), file())
}

// claim returns the store's directory and the group to add to; the group is nil if h is not new to
// the batch. The directory is held open, so that paths are not resolved again for each step. The
// temporary files in it keep git from removing it.
func (b *Batch) claim(h Hash) (*os.Root, *atomicfile.Group, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.group == nil {
		dir, err := b.s.openDir()
		if err != nil {
			return nil, nil, err
		}
		opts := b.s.fileOptions()
		opts.TempDir = tempDir
		if b.joint {
			opts.Volume = b.s.volumeOf(dir)
		}
		b.dir, b.group = dir, atomicfile.NewGroup(dir, opts)
	}
	if _, seen := b.seen[h]; seen {
		return nil, nil, nil
	}
	b.seen[h] = struct{}{}
	return b.dir, b.group, nil
}

// openDir opens the store's directory and creates it if it does not exist.
func (s *Store) openDir() (dir *os.Root, err error) {
	err = s.do(s.create, func(root *os.Root) error {
		dir, err = atomicfile.OpenDir(root, s.name, s.fileOptions())
		return err
	})
	return dir, err
}

// Commit makes everything written so far durable and visible. If it fails, some of it may be
// visible; writing it again is safe. Afterwards the batch is empty and may be used again. Commit
// must not be called during a Write.
func (b *Batch) Commit() error { return errors.Join(commit([]*Batch{b})...) }

// commit commits batches of one store and returns the error of each.
func commit(batches []*Batch) []error {
	errs := make([]error, len(batches))
	var groups []*atomicfile.Group
	var at []int
	for i, b := range batches {
		if group, closed := b.reset(); group != nil {
			defer closed()
			groups, at = append(groups, group), append(at, i)
		}
	}
	for i, err := range atomicfile.CommitAll(groups) {
		errs[at[i]] = err
	}
	return errs
}

// Discard discards everything written since the last Commit.
func (b *Batch) Discard() {
	if group, closed := b.reset(); group != nil {
		group.Discard()
		closed()
	}
}

// reset empties the batch. It returns the batch's group and a function that closes its directory.
func (b *Batch) reset() (_ *atomicfile.Group, closed func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	group, dir := b.group, b.dir
	b.group, b.dir = nil, nil
	clear(b.seen)
	return group, func() { _ = dir.Close() } // nothing is written through it
}

// A Joint is several batches that are committed together: if possible, the file system is synced as
// a whole, and not file by file. That also waits for what other programs have written.
type Joint struct {
	s *Store

	mu      sync.Mutex // guards the following
	batches []*Batch

	named bool // Commit gave blobs their names, the last one at the following moment
	at    atomicfile.Mark
}

// NewJoint returns a joint without batches. Every joint must be closed.
func (s *Store) NewJoint() *Joint { return &Joint{s: s} }

// NewBatch returns an empty batch of the joint, which is committed with the joint or discarded. It
// is safe for concurrent use.
func (j *Joint) NewBatch() *Batch {
	b := j.s.NewBatch()
	b.joint = true
	j.mu.Lock()
	defer j.mu.Unlock()
	j.batches = append(j.batches, b)
	return b
}

// Commit commits all batches and returns the errors by batch. The names of the blobs are durable
// after a later sync of the store's volume. Whoever does not wait for one before something that
// refers to them gets its own name must call Settle.
func (j *Joint) Commit() map[*Batch]error {
	failed := map[*Batch]error{}
	j.named = slices.ContainsFunc(j.batches, func(b *Batch) bool { return b.group != nil })
	for i, err := range commit(j.batches) {
		if err != nil {
			failed[j.batches[i]] = err
		}
	}
	j.at = j.s.opened().Mark()
	return failed
}

// Settle makes the names of what was committed durable, unless the volume was synced since.
func (j *Joint) Settle() error {
	if !j.named {
		return nil
	}
	return j.s.opened().Settle(j.at)
}

// Close discards all batches that were not committed.
func (j *Joint) Close() {
	for _, b := range j.batches {
		b.Discard()
	}
}
