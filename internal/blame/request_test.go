package blame

import (
	"slices"
	"testing"

	"github.com/git-jp/git-jp/gitint"
)

// TestSpansOfPaths verifies that lines of one commit from different files are different spans, and
// that the present name of a file comes first.
func TestSpansOfPaths(t *testing.T) {
	lines := []gitint.BlamedLine{
		{Number: 1, Path: "a"}, {Number: 2, Path: "a"}, {Number: 3, Path: "b"}, {Number: 4},
	}
	all, _ := spans(lines)
	if len(all) != 3 || all[0].To != 2 {
		t.Errorf("spans %+v", all)
	}
	if got := names("b", lines); !slices.Equal(got, []string{"b", "a"}) {
		t.Errorf("names %q", got)
	}
}

func TestLinesAreCountedFromOne(t *testing.T) {
	for text, want := range map[string][2]int{
		"": {}, "7": {7, 7}, "12,20": {12, 20}, "3,3": {3, 3},
		"0": {-1}, "5,4": {-1}, "x": {-1}, "1,": {-1}, ",2": {-1}, "1,2,3": {-1}, "-1": {-1},
	} {
		from, to, err := ParseLines(text)
		if want[0] < 0 {
			if err == nil {
				t.Errorf("%q is understood as %d,%d", text, from, to)
			}
			continue
		}
		if err != nil || [2]int{from, to} != want {
			t.Errorf("%q: got %d,%d, %v, want %v", text, from, to, err, want)
		}
	}
}

func TestFewTurnsThatWroteNothingAreShown(t *testing.T) {
	turns := func(wrote ...int) (s Span) {
		for _, n := range wrote {
			s.Turns = append(s.Turns, Turn{Wrote: n})
		}
		return s
	}
	for _, c := range []struct {
		span        Span
		all         bool
		shown, left int
	}{
		{turns(), false, 0, 0},
		{turns(0, 0, 0), false, 3, 0},
		{turns(0, 0, 0, 0, 0), false, 3, 2},
		{turns(0, 0, 0, 0, 0), true, 5, 0},
		{turns(2, 1, 1, 1, 0, 0), false, 4, 2},
	} {
		shown, left := c.span.shown(c.all)
		if len(shown) != c.shown || left != c.left {
			t.Errorf("%v, all is %v: %d are shown and %d left, want %d and %d",
				c.span.Turns, c.all, len(shown), left, c.shown, c.left)
		}
	}
}
