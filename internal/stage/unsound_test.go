package stage_test

import (
	"bytes"
	"compress/gzip"
	"runtime"
	"testing"

	"github.com/git-jp/git-jp/internal/check"
)

// TestBombsAreNotUnpacked verifies that a blob which a commit brings and that is too large is found
// without keeping its decompressed content.
func TestBombsAreNotUnpacked(t *testing.T) {
	const size = 256 << 20
	var gz bytes.Buffer
	w, err := gzip.NewWriterLevel(&gz, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 1<<20)
	for range size / len(zeros) {
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f := newFixture(t)
	f.WriteFile(".jp/.id", "x\n")
	f.Commit("begin")
	f.converse(firstID, "first", "a")
	f.Remove(f.blobPath("a"))
	f.WriteFile(f.blobPath("a"), gz.String())
	f.Run("add", ".jp")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	v, _ := f.preCommit(t)
	runtime.ReadMemStats(&after)
	if !v.Blocked() || v.Blocking[0].State != check.Oversize {
		t.Errorf("got %v, want one that is too large", v.Blocking)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > size/2 {
		t.Errorf("%d bytes were allocated for a content of %d", got, size)
	}
}
