package gc_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gc"
)

// titled writes a conversation whose title names contents: the mark does not count that as a
// reference, a search of the text finds it.
func (f *fixture) titled(all ...blobs.Hash) {
	f.converse(conversation)
	f.WriteFile(conversation+"/metadata.json", fmt.Sprintf(`{"title":"%s"}`+"\n", all))
}

// TestManyDoubtsStopTheRun names three contents in a title, before a move and before they would be
// erased.
func TestManyDoubtsStopTheRun(t *testing.T) {
	f := newFixture(t)
	var all []blobs.Hash
	for n := range 3 {
		all = append(all, f.blob(fmt.Sprint("content ", n)))
	}
	dead := f.blob("dead")
	refused := func(what string) {
		t.Helper()
		_, err := f.collect()
		r := new(gc.RefusedError)
		if !errors.As(err, &r) || !r.Has(gc.ReasonDoubt) || len(r.Obstacles) != len(all) {
			t.Fatalf("%s: %v", what, err)
		}
		if !strings.Contains(err.Error(), all[0].String()) {
			t.Errorf("%s: it is not named: %v", what, err)
		}
	}
	f.titled(all...)
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
	f.Run("tag", "v1", f.commitFile(conversation+"/metadata.json", fmt.Sprint(all)))
	refused("before the erasure")
	if past, err := gc.Runs(f.options()); err != nil || len(past) != 1 || past[0].Blobs != 4 {
		t.Errorf("the quarantine has %v, %v", past, err)
	}
}

// TestTwoDoubtsStopNothing names two contents in a title: they are kept, and the run continues
// without them, before a move and before others are erased.
func TestTwoDoubtsStopNothing(t *testing.T) {
	f := newFixture(t)
	one, two, dead := f.blob("one"), f.blob("two"), f.blob("dead")
	f.titled(one, two)
	res, err := f.collect()
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Doubts) != 2 || !f.has(one) || !f.has(two) || f.has(dead) {
		t.Errorf("%v, dead is there: %v", res.Doubts, f.has(dead))
	}
	f.Remove(conversation)
	if _, err = f.collect(); err != nil || f.has(one) || f.has(two) {
		t.Fatalf("not moved: %v", err)
	}
	f.age()
	f.Run("tag", "v1", f.commitFile(conversation+"/metadata.json", fmt.Sprint(one, two)))
	if res, err = f.collect(); err != nil {
		t.Fatal(err)
	}
	if len(res.Doubts) != 2 || res.Revived != 2 || res.Purged != 1 || !f.has(one) || !f.has(two) {
		t.Errorf("%+v", res)
	}
}

// TestSecondOpinionSeesWriters writes a title while blobs are being moved.
func TestSecondOpinionSeesWriters(t *testing.T) {
	f := newFixture(t)
	wanted, dead := f.blob("wanted"), f.blob("dead")
	f.hook = func(s gc.Step, _ string) error {
		if s == gc.StepMove {
			f.titled(wanted)
		}
		return nil
	}
	res, err := f.collect()
	if err != nil {
		t.Fatal(err)
	}
	if !f.has(wanted) || f.has(dead) || len(res.Doubts) != 1 || res.Returned != 1 {
		t.Errorf("there %v, dead %v, %+v", f.has(wanted), f.has(dead), res)
	}
}

// TestStalePlanIsNoFault makes content wanted between the plan and the sweep: both opinions then
// agree.
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

// TestOpinionThatCannotBeHad checks that a failed second opinion deletes nothing.
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
