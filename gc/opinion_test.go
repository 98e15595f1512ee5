package gc_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gc"
)

// collectBlind collects with a mark that sees no reference to some content.
func (f *fixture) collectBlind(to ...blobs.Hash) (*gc.Result, error) {
	f.tb.Helper()
	o := f.options()
	o.AcceptMissing = true
	blind := make(map[blobs.Hash]bool)
	for _, h := range to {
		blind[h] = true
	}
	o.Blind(func(h blobs.Hash) bool { return blind[h] })
	p, err := gc.MakePlan(f.tb.Context(), o)
	if err != nil {
		return nil, err
	}
	return gc.Sweep(f.tb.Context(), o, p)
}

// past are the rows of the matrix in which only history has the reference: the second opinion
// looks there before it lets content go for good, and not before it is moved.
var past = []string{
	"reflog", "what a branch was before its reflog", "older commit of a branch",
	"carried by a pointer only", "damaged stream of the past", "older commit of a split branch",
	"reflog of a split branch, as one conversation",
}

// TestSecondOpinionOfTheRootMatrix blinds the mark for each row of the matrix: the second opinion
// alone keeps the content, and says where it is named.
func TestSecondOpinionOfTheRootMatrix(t *testing.T) {
	for _, row := range rows() {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			kept, dead := f.blob("kept"), f.blob("dead")
			row.make(f, kept)
			res, err := f.collectBlind(kept)
			if err != nil {
				t.Fatal(err)
			}
			isPast := false
			for _, name := range past {
				isPast = isPast || name == row.name
			}
			if isPast {
				if f.has(kept) {
					t.Fatal("it is not only history that names it")
				}
				f.age()
				if res, err = f.collectBlind(kept); err != nil {
					t.Fatal(err)
				}
			}
			if !f.has(kept) || len(res.Doubts) != 1 || res.Doubts[0].Hash != kept {
				t.Fatalf("kept %v, doubts %v", f.has(kept), res.Doubts)
			}
			t.Log(res.Doubts[0])
			if f.has(dead) {
				t.Error("what nothing refers to is still there")
			}
		})
	}
}

// TestManyDoubtsStopTheRun makes the mark blind for three contents, before a move and before they
// would go for good.
func TestManyDoubtsStopTheRun(t *testing.T) {
	f := newFixture(t)
	var all []blobs.Hash
	for n := range 3 {
		all = append(all, f.blob(fmt.Sprint("content ", n)))
	}
	dead := f.blob("dead")
	refused := func(what string) {
		t.Helper()
		_, err := f.collectBlind(all...)
		r := new(gc.RefusedError)
		if !errors.As(err, &r) || !r.Has(gc.ReasonDoubt) || len(r.Obstacles) != len(all) {
			t.Errorf("%s: %v", what, err)
		}
		if !strings.Contains(err.Error(), all[0].String()) {
			t.Errorf("%s: it is not named: %v", what, err)
		}
	}
	f.converse(conversation, all...)
	refused("before the move")
	for _, h := range append(all, dead) {
		if !f.has(h) {
			t.Errorf("%s was moved", h)
		}
	}
	f.Remove(conversation)
	if _, err := f.collect(); err != nil || f.has(all[0]) {
		t.Fatalf("not moved: %v", err)
	}
	f.age()
	f.Run("tag", "v1", f.commit(all...))
	refused("before the erasure")
	if past, err := gc.Runs(f.options()); err != nil || len(past) != 1 || past[0].Blobs != 4 {
		t.Errorf("the quarantine has %v, %v", past, err)
	}
}

// TestSecondOpinionSeesWriters lets a stream come to be while blobs are being moved, with a mark
// that does not see it.
func TestSecondOpinionSeesWriters(t *testing.T) {
	f := newFixture(t)
	wanted, dead := f.blob("wanted"), f.blob("dead")
	f.hook = func(s gc.Step, _ string) error {
		if s == gc.StepMove {
			f.converse(conversation, wanted)
		}
		return nil
	}
	res, err := f.collectBlind(wanted)
	if err != nil {
		t.Fatal(err)
	}
	if !f.has(wanted) || f.has(dead) || len(res.Doubts) != 1 || res.Returned != 1 {
		t.Errorf("there %v, dead %v, %+v", f.has(wanted), f.has(dead), res)
	}
}

// TestStalePlanIsNoFault lets content become wanted between the plan and the sweep: both opinions
// then agree.
func TestStalePlanIsNoFault(t *testing.T) {
	f := newFixture(t)
	var all []blobs.Hash
	for n := range 4 {
		all = append(all, f.blob(fmt.Sprint("content ", n)))
	}
	o := f.options()
	p, err := gc.MakePlan(t.Context(), o)
	if err != nil || len(p.Items) != 4 {
		t.Fatal(p, err)
	}
	f.converse(conversation, all[:3]...)
	res, err := gc.Sweep(t.Context(), o, p)
	if err != nil || len(res.Doubts) > 0 || res.Spared != 3 || len(res.Moved) != 1 {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestOpinionThatCannotBeHad deletes nothing.
func TestOpinionThatCannotBeHad(t *testing.T) {
	f := newFixture(t)
	dead := f.blob("dead")
	o := f.options()
	p, err := gc.MakePlan(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	f.Run("update-ref", "refs/heads/other", f.commit())
	f.lose("other:" + conversation + "/events.json")
	_, err = gc.Sweep(t.Context(), o, p)
	refused := new(gc.RefusedError)
	if !errors.As(err, &refused) || !refused.Has(gc.ReasonOpinion) || !f.has(dead) {
		t.Errorf("there %v, %v", f.has(dead), err)
	}
}
