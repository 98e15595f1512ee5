package blobs

import (
	"os"
	"sync"

	"github.com/git-jp/git-jp/internal/atomicfile"
)

// A Batch writes many blobs at the price of few waits for the disk. Nothing that it
// was given can be read or referred to before [Batch.Commit]; then everything is as
// durable as after [Store.Write]. A crash leaves some of the blobs, each whole. A
// Batch is safe for concurrent use, and gains from being fed by several goroutines.
type Batch struct {
	s *Store

	mu    sync.Mutex // guards the following
	group *atomicfile.Group
	seen  map[Hash]struct{} // written to the group or kept, since the last Commit
}

// NewBatch returns an empty batch. Every batch ends with Commit or Discard.
func (s *Store) NewBatch() *Batch { return &Batch{s: s, seen: map[Hash]struct{}{}} }

// Write is [Store.Write], but the blob is only there after Commit. An error of an
// earlier Write may be returned too.
func (b *Batch) Write(content []byte) (Ref, error) {
	ref := RefTo(content)
	if err := b.write(ref, content); err != nil {
		return Ref{}, writeError(ref, err)
	}
	return ref, nil
}

func (b *Batch) write(ref Ref, content []byte) error {
	if err := b.s.limits.Check(ref.Size); err != nil {
		return err
	}
	root, err := b.s.create()
	if err != nil {
		return err
	}
	group, first := b.claim(root, ref.Hash)
	if !first || b.s.keep(root, ref) {
		return nil
	}
	return group.Add(b.s.path(ref.Hash), Encode(content))
}

// claim returns the group to add to and whether h is new to the batch.
func (b *Batch) claim(root *os.Root, h Hash) (*atomicfile.Group, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.group == nil {
		b.group = atomicfile.NewGroup(root, b.s.fileOptions())
	}
	_, seen := b.seen[h]
	b.seen[h] = struct{}{}
	return b.group, !seen
}

// Commit makes everything written so far durable and visible. On an error some of it
// may be; writing it again is safe. The batch is empty afterwards and may be used
// again. No Write may be running.
func (b *Batch) Commit() error {
	if group := b.reset(); group != nil {
		return group.Commit()
	}
	return nil
}

// Discard drops everything written since the last Commit.
func (b *Batch) Discard() {
	if group := b.reset(); group != nil {
		group.Discard()
	}
}

func (b *Batch) reset() *atomicfile.Group {
	b.mu.Lock()
	defer b.mu.Unlock()
	group := b.group
	b.group = nil
	clear(b.seen)
	return group
}
