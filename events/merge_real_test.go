package events_test

import (
	"os"
	"slices"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/internal/realdata"
)

// cut returns a real conversation as it was after five of its eleven turns, and two versions that
// continue it with half of the remaining turns each.
func cut(tb testing.TB) (base, ours, theirs, whole *events.Stream) {
	tb.Helper()
	data, err := os.ReadFile(realdata.Dir(tb, "conversations",
		"17738399468-rfd-review-and-phase-1-planning", "events.json"))
	if err != nil {
		tb.Fatal(err)
	}
	decode := func() *events.Stream {
		s, err := events.Decode(data)
		if err != nil {
			tb.Fatal(err)
		}
		return s
	}
	base, ours, theirs, whole = decode(), decode(), decode(), decode()
	turns := whole.Turns()
	five, eight := turns[5].First, turns[8].First
	base.Remove(five, base.Len()-five)
	ours.Remove(eight, ours.Len()-eight)
	theirs.Remove(five, eight-five)
	return base, ours, theirs, whole
}

func TestMergeRealConversation(t *testing.T) {
	base, ours, theirs, whole := cut(t)
	t.Logf("%d events in common, %d and %d of %d on the sides", base.Len(),
		ours.Len()-base.Len(), theirs.Len()-base.Len(), whole.Len())
	r := merged(t, base, ours, theirs)
	other := merged(t, base, theirs, ours)
	if string(r.Stream.Encode()) != string(other.Stream.Encode()) {
		t.Error("the two directions differ")
	}
	if len(r.Conflicts) > 0 || len(r.Warnings) > 0 {
		t.Errorf("conflicts %v, warnings %q", r.Conflicts, r.Warnings)
	}
	got, want := sums(r.Stream), sums(whole)
	if !slices.Equal(got, want) {
		t.Errorf("%d elements of %d are as they were", len(got), len(want))
	}
	// Only one element may differ from the original bytes: the one with the merge's note.
	changed := 0
	for i, e := range r.Stream.All() {
		if string(e.Raw()) != string(whole.At(i).Raw()) {
			changed++
		}
	}
	if changed != 1 {
		t.Errorf("%d elements have other bytes", changed)
	}
}

func sums(s *events.Stream) []string {
	var all []string
	for _, e := range s.All() {
		all = append(all, e.Sum().String())
	}
	return all
}

func BenchmarkMergeReal(b *testing.B) {
	base, ours, theirs, _ := cut(b)
	b.SetBytes(int64(len(base.Encode()) + len(ours.Encode()) + len(theirs.Encode())))
	for b.Loop() {
		if _, err := threeway.Merge(threeway.Side{Stream: base}, threeway.Side{Stream: ours},
			threeway.Side{Stream: theirs}); err != nil {
			b.Fatal(err)
		}
	}
}
