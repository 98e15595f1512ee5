package compact_test

import (
	"fmt"
	"math"
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
// trimming it, with the number of results that are removed.
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
	return p.Tokens, before - sum(after.Sizes), len(h.Obsolete)
}

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

// TestThePriceIsWhatGoes checks for reads and writes of some lines of files, in any order, that a
// request becomes smaller by exactly the estimate.
func TestThePriceIsWhatGoes(t *testing.T) {
	gone := 0
	rapid.Check(t, func(rt *rapid.T) {
		k := new(talk)
		for n := range rapid.IntRange(2, 5).Draw(rt, "turns") {
			k.turn(fmt.Sprint(n))
			for range rapid.IntRange(1, 5).Draw(rt, "calls") {
				name := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "file")
				from := rapid.IntRange(1, 200).Draw(rt, "from")
				if rapid.IntRange(0, 2).Draw(rt, "writes") == 0 {
					k.call("fs_modify_file", fmt.Sprintf(`{"path":%q,"patterns":[]}`, name), "done")
				} else {
					k.part(name, from, from+rapid.IntRange(10, 200).Draw(rt, "more"))
				}
			}
		}
		priced, given, n := goes(rt, k.turn("then").say("m").turn("last").stream())
		if gone += n; math.Abs(priced-given) > 30*float64(n) || n > 0 && priced <= 0 {
			rt.Fatalf("%d go, for %.0f tokens, of which %.0f are not given", n, priced, given)
		}
	})
	if gone == 0 {
		t.Error("nothing went")
	}
}
