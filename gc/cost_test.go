package gc_test

import (
	"fmt"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gc"
)

// costOf makes a plan and returns how many objects it read, and how many git commands it ran.
func (f *fixture) costOf(items int) (objects, processes int) {
	f.tb.Helper()
	f.withCache()
	o := f.options()
	p, err := gc.MakePlan(f.tb.Context(), o)
	if err != nil || len(p.Items) != items {
		f.tb.Fatalf("plan %+v, %v", p, err)
	}
	if err := f.cache.Close(); err != nil {
		f.tb.Fatal(err)
	}
	return o.Repo.ObjectsRead(), o.Repo.Processes()
}

// tell commits a conversation with a content of its own.
func (f *fixture) tell(n int) {
	f.tb.Helper()
	content := fmt.Sprint("content ", n)
	f.blob(content)
	f.converse(fmt.Sprintf(".jp/conversations/178%08d-more", n), blobs.Sum([]byte(content)))
	f.Commit(content)
}

// TestStoresOfThePastAreReadWhereAsked makes commits that refer to no candidate. Each costs reading
// its own objects, but not its store.
func TestStoresOfThePastAreReadWhereAsked(t *testing.T) {
	const commits = 10
	cost := func(more int) int {
		f := newFixture(t)
		f.blob("dead")
		for n := range more {
			f.tell(n)
		}
		objects, _ := f.costOf(1)
		return objects
	}
	few, many := cost(commits), cost(2*commits)
	// The commit for its kind and for its tree; its tree, that of .jp, that of conversations, that
	// of the conversation and the stream; and of the tip the two directories of the content.
	if each := (many - few) / commits; each != 9 {
		t.Errorf("%d objects, %d with %d commits more: %d each", few, many, commits, each)
	}
}

// TestTheSameRootsAgain checks that commits are not listed again if the roots are unchanged.
func TestTheSameRootsAgain(t *testing.T) {
	f := newFixture(t)
	f.blob("dead")
	for n := range 3 {
		f.tell(n)
	}
	_, first := f.costOf(1)
	_, again := f.costOf(1)
	if again >= first {
		t.Errorf("the second time: asked git %d times, the first %d", again, first)
	}
	f.tell(3)
	if _, n := f.costOf(1); n != first {
		t.Errorf("after a commit: asked git %d times, want %d", n, first)
	}
	f.Run("update-ref", "refs/tags/t", "HEAD~1") // a root that adds no commit
	f.costOf(1)
	if _, n := f.costOf(1); n != again {
		t.Errorf("the second time with a tag: asked git %d times, want %d", n, again)
	}
}
