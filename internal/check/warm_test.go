package check

import (
	"context"
	"fmt"
	"testing"

	"github.com/git-jp/git-jp/internal/refs"
)

// many is a forest of n conversations with a blob each, of the size of a pointer.
func many(n int) forest {
	f := forest{}
	for i := range n {
		f.conversation(fmt.Sprint(17800836875+i), "T", noise(i)[:200])
	}
	return f
}

// TestSecondCheckReadsNothing counts the files and directories that a source is asked for.
func TestSecondCheckReadsNothing(t *testing.T) {
	dir := t.TempDir()
	check := func(f forest, want []expect) int64 {
		t.Helper()
		cache := refs.Open(dir)
		defer cache.Close()
		src := f.source("c1")
		same(t, "findings", want, checked(t, src, Options{Cache: cache}))
		return src.reads.Load()
	}
	const n = 300
	f := many(n)
	if reads := check(f, nil); reads < 2*n {
		t.Errorf("the first check took %d reads, so the test tests nothing", reads)
	}
	if reads := check(f, nil); reads > 6 {
		t.Errorf("the second check took %d reads", reads)
	}
	more := f.clone().conversation("17800999999", "T", "more")
	if reads := check(more, nil); reads > 20 {
		t.Errorf("a check with one more conversation took %d reads", reads)
	}
	f.write(blobPath(noise(7)[:200]), pointer(noise(7)[:200]))
	want := []expect{{
		State: LFSPointer, Path: ".jp/conversations/17800836882/events.json", Turn: 1, Call: "toolu_00",
	}}
	for range 3 {
		check(f, want)
	}
}

// TestRememberedBlobsMustStillBeHere: what the cache knows says nothing about presence.
func TestRememberedBlobsMustStillBeHere(t *testing.T) {
	cache := refs.Open(t.TempDir())
	defer cache.Close()
	f := many(10)
	for range 2 {
		same(t, "here", nil, checked(t, f.source("c1"), Options{Cache: cache}))
	}
	gone := absentObjects{f.source("c1"), blobPath(noise(7)[:200])}
	report, err := Tree(context.Background(), gone, Options{Cache: cache})
	if err != nil || len(report.Findings) != 1 || report.Findings[0].State != Missing {
		t.Errorf("%v, %v; want a missing blob", report, err)
	}
}
