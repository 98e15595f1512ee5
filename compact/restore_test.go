package compact_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"pgregory.net/rapid"
)

func onArrival() dedup.Options {
	return dedup.Options{Enabled: true, MinBytes: 300, Lookback: 30, Lines: true}
}

// lines returns some lines of a file, all different.
func lines(name string, from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "%s has a line %d here\n", name, i)
	}
	return b.String()
}

// part adds a call that reads some lines.
func (k *talk) part(name string, from, to int) *talk {
	return k.file(fmt.Sprintf("%s#L%d-%d", name, from, to), lines(name, from, to))
}

const edits = `{"path":"a","patterns":[]}`

// goes returns how many tokens smaller the next request would be, by estimate and by actually
// trimming it, with the number of results that are removed. If nothing refers to them, what follows
// is not measured again, and may find a better source without them: then more is saved.
func goes(t interface{ Fatal(args ...any) }, s *events.Stream) (priced, given float64, n int) {
	o := compact.ObsoleteOptions{Dedup: onArrival(), Stale: anyFile, Estimator: compact.Estimator{Scale: 1}}
	h, err := compact.HistoryOf(s, o)
	if err != nil {
		t.Fatal(err)
	}
	before := sum(h.Sizes)
	p, _ := h.Pending(true, false)
	marked := s.Clone()
	for _, f := range h.Obsolete {
		marked.Set(f.Element, dedup.WithTrimmed(marked.At(f.Element), nil))
	}
	after, err := compact.HistoryOf(marked, o)
	if err != nil {
		t.Fatal(err)
	}
	given = before - sum(after.Sizes)
	if !slices.ContainsFunc(h.Trims, isReferredTo) {
		given = min(given, max(p.Tokens, 0))
	}
	return p.Tokens, given, len(h.Obsolete)
}

func isReferredTo(f compact.Trim) bool { return len(f.Feeds) > 0 }

func sum(all []float64) (n float64) {
	for _, v := range all {
		n += v
	}
	return n
}

// TestWhatIsReferredToIsPriced checks that results with references to them are removed if that
// pays, including the cost of sending content again.
func TestWhatIsReferredToIsPriced(t *testing.T) {
	for name, test := range map[string]struct {
		talk *talk
		want int
		less bool // a part of it is sent again
	}{
		"nothing refers to it":     {new(talk).turn("1").part("a", 1, 200).call("fs_modify_file", edits, "done"), 1, false},
		"what does goes too":       {new(talk).turn("1").part("a", 1, 200).part("a", 50, 80).call("fs_modify_file", edits, "done"), 2, false},
		"what does stays":          {new(talk).turn("1").part("a", 1, 200).call("fs_modify_file", edits, "done").part("a", 50, 80), 1, true},
		"most of it would be back": {new(talk).turn("1").part("a", 1, 200).call("fs_modify_file", edits, "done").part("a", 20, 180), 0, false},
		"all of it would":          {new(talk).turn("1").part("a", 1, 200).part("a", 1, 200), 0, false},
		"a later one has it by it": {new(talk).turn("1").part("a", 1, 200).part("a", 2, 9).call("fs_modify_file", edits, "done").part("a", 1, 300), 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := test.talk.turn("2").say("m").turn("3").stream()
			priced, given, n := goes(t, s)
			if n != test.want || math.Abs(priced-given) > 30*float64(n) {
				t.Errorf("%d go, for %.0f tokens, of which %.0f are not given", n, priced, given)
			}
			whole := compact.SortRead.Tokens(int64(len(lines("a", 1, 200))))
			if less := n > 0 && given < whole-100; less != test.less {
				t.Errorf("%.0f tokens of %.0f are not given", given, whole)
			}
		})
	}
}

// works draws reads and writes of some lines of files, in any order.
func works() *rapid.Generator[*talk] {
	return rapid.Custom(func(t *rapid.T) *talk {
		k := new(talk)
		for n := range rapid.IntRange(2, 5).Draw(t, "turns") {
			k.turn(fmt.Sprint(n))
			for range rapid.IntRange(1, 5).Draw(t, "calls") {
				name := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "file")
				from := rapid.IntRange(1, 200).Draw(t, "from")
				if rapid.IntRange(0, 2).Draw(t, "writes") == 0 {
					k.call("fs_modify_file", fmt.Sprintf(`{"path":%q,"patterns":[]}`, name), "done")
				} else {
					k.part(name, from, from+rapid.IntRange(10, 200).Draw(t, "more"))
				}
			}
		}
		return k
	})
}

// TestThePriceIsWhatGoes checks that a request becomes smaller by exactly the estimate.
func TestThePriceIsWhatGoes(t *testing.T) {
	gone := 0
	rapid.Check(t, func(rt *rapid.T) {
		k := works().Draw(rt, "works")
		priced, given, n := goes(rt, k.turn("then").say("m").turn("last").stream())
		if gone += n; math.Abs(priced-given) > 30*float64(n) || n > 0 && priced <= 0 {
			rt.Fatalf("%d go, for %.0f tokens, of which %.0f are not given", n, priced, given)
		}
	})
	if gone == 0 {
		t.Error("nothing went")
	}
}

// last returns the tokens of the last request of a replay, as counted and as they are without what
// was trimmed, with the numbers of results that were trimmed and of requests that trimmed some. If
// nothing refers to them, fewer may be sent, as in goes.
func last(t interface{ Fatal(args ...any) }, s *events.Stream) (counted, sent float64, gone, times int) {
	o := compact.ObsoleteOptions{Dedup: onArrival(), Stale: anyFile, Estimator: compact.Estimator{Scale: 1}}
	h, err := compact.HistoryOf(s, o)
	if err != nil {
		t.Fatal(err)
	}
	marked, m, measured := s.Clone(), market(), false
	before := h
	before.Exchanges = h.Exchanges[:len(h.Exchanges)-1]
	h.Watch = func(_ int, elements []int, _ []string) {
		for _, i := range elements {
			marked.Set(i, dedup.WithTrimmed(marked.At(i), nil))
		}
		gone, times = gone+len(elements), times+1
		measured = measured || slices.ContainsFunc(h.Trims, func(f compact.Trim) bool {
			return isReferredTo(f) && slices.Contains(elements, f.Element)
		})
	}
	counted = compact.Replay(h, compact.Eager, m, m.Promised()).Sent -
		compact.Replay(before, compact.Eager, m, m.Promised()).Sent
	after, err := compact.HistoryOf(marked, o)
	if err != nil {
		t.Fatal(err)
	}
	sent = h.Base + sum(after.Sizes[:h.Exchanges[len(h.Exchanges)-1].Upto])
	if !measured {
		sent = max(sent, counted)
	}
	return counted, sent, gone, times
}

// TestReplaySendsWhatIsLeft checks that a request is counted as large as it is after all that was
// trimmed before, one after the other: what refers to it is sent again, and may be trimmed later.
func TestReplaySendsWhatIsLeft(t *testing.T) {
	k := new(talk).turn("1").part("a", 1, 200).call("fs_modify_file", edits, "done").say("m").turn("2").say("m").turn("3").say("m").
		turn("4").part("a", 50, 80).call("fs_modify_file", edits, "done").say("m").turn("5").say("m").turn("6").say("m").
		turn("7").part("a", 55, 80).say("m")
	if counted, sent, gone, times := last(t, k.stream()); times != 2 || math.Abs(counted-sent) > 30*float64(gone) {
		t.Errorf("after %d were trimmed %d times, %.0f tokens are sent, counted as %.0f", gone, times, sent, counted)
	}
	again := 0
	rapid.Check(t, func(rt *rapid.T) {
		counted, sent, gone, times := last(rt, works().Draw(rt, "works").turn("then").say("m").stream())
		if again += max(times-1, 0); math.Abs(counted-sent) > 1+30*float64(gone) {
			rt.Fatalf("after %d were trimmed, %.0f tokens are sent, counted as %.0f", gone, sent, counted)
		}
	})
	if again == 0 {
		t.Error("nothing was trimmed after something else")
	}
}
