package gc_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/gc"
)

// asked collects and returns how many git processes the second opinion started: only it disables
// the commit graph.
func (f *fixture) asked() int {
	f.tb.Helper()
	const log = "../trace"
	f.Remove(log)
	traced := *f
	traced.Repository = f.With("GIT_TRACE2_EVENT=" + f.Path(log))
	if _, err := traced.collect(); err != nil {
		f.tb.Fatal(err)
	}
	data, err := os.ReadFile(f.Path(log))
	if err != nil {
		f.tb.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(data)) {
		if strings.Contains(line, `"event":"start"`) &&
			strings.Contains(line, `"core.commitGraph=false"`) {
			n++
		}
	}
	return n
}

// TestSecondOpinionCostsWhereSomethingGoes counts the git processes that it starts: none if nothing
// is to be deleted, and no more for more commits, conversations or deleted blobs.
func TestSecondOpinionCostsWhereSomethingGoes(t *testing.T) {
	cost := func(commits, dead int) (move, erase int) {
		t.Helper()
		f := newFixture(t)
		for n := range commits {
			f.tell(n)
		}
		if n := f.asked(); n > 0 {
			t.Errorf("with %d commits: %d gits were asked about nothing", commits, n)
		}
		for n := range dead {
			f.blob(fmt.Sprint("dead ", n))
		}
		move = f.asked()
		if n := f.asked(); n > 0 {
			t.Errorf("with %d commits: %d gits were asked about what has gone", commits, n)
		}
		f.age()
		erase = f.asked()
		if past, err := gc.Runs(f.options()); err != nil || len(past) > 0 {
			t.Errorf("not erased: %v, %v", past, err)
		}
		return move, erase
	}
	move, erase := cost(2, 1)
	if move == 0 || erase == 0 {
		t.Errorf("asked %d gits before the move and %d before the erasure", move, erase)
	}
	more, evenMore := cost(20, 10)
	if more != move || evenMore != erase {
		t.Errorf("%d and %d gits with more of all, %d and %d with less",
			more, evenMore, move, erase)
	}
}

// TestYoungContentCostsNoOpinion checks that nothing is started if everything is newer than the
// grace period.
func TestYoungContentCostsNoOpinion(t *testing.T) {
	f := newFixture(t)
	f.blob("dead")
	f.grace = 100 * 365 * 24 * time.Hour
	if n := f.asked(); n > 0 {
		t.Errorf("%d gits were asked about what is too young", n)
	}
}
