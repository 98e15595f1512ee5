package gc_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/internal/regular"
)

// large returns a stream that is too large to be read, with one hash near its end.
func large(h blobs.Hash) string {
	return "[" + strings.Repeat(" ", regular.MaxStream) + stream(h)[1:]
}

// TestLargeStreamOfATip checks that a large stream of a tip is an obstacle: it may be made smaller
// and committed.
func TestLargeStreamOfATip(t *testing.T) {
	f := newFixture(t)
	h := f.blob("alpha")
	f.Run("branch", "evil", f.commitFile(conversation+"/events.json", large(h)))
	_, err := f.collect()
	refused := new(gc.RefusedError)
	if !errors.As(err, &refused) || !refused.Has(gc.ReasonLarge) ||
		!strings.Contains(err.Error(), "refs/heads/evil:"+conversation) ||
		!strings.Contains(err.Error(), "limit 64 MiB") {
		t.Errorf("error is %v", err)
	}
}

// TestLargeStreamOnDisk checks that a large stream on disk is an obstacle too.
func TestLargeStreamOnDisk(t *testing.T) {
	f := newFixture(t)
	f.WriteFile(conversation+"/events.json", large(f.blob("alpha")))
	_, err := f.collect()
	refused := new(gc.RefusedError)
	if !errors.As(err, &refused) || !refused.Has(gc.ReasonLarge) ||
		!strings.Contains(err.Error(), "bytes, limit 64 MiB") {
		t.Errorf("error is %v", err)
	}
}

// TestLargeStreamLongPast checks that in a large stream of history, which cannot change, exactly
// the hashes count.
func TestLargeStreamLongPast(t *testing.T) {
	f := newFixture(t)
	kept, gone := f.blob("alpha"), f.blob("beta")
	c := f.commitFile(conversation+"/events.json", large(kept))
	f.Run("branch", "other", f.Run("commit-tree", "-m", "x", "-p", c, "HEAD^{tree}"))
	if _, err := f.collect(); err != nil {
		t.Fatal(err)
	}
	if !f.has(kept) || f.has(gone) {
		t.Errorf("what an old stream names is here: %v; what none names: %v", f.has(kept), f.has(gone))
	}
}
