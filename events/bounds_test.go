package events

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestResolveRange(t *testing.T) {
	s := sketched(t, "T q m T q m T q m T q m C0-1r C1-0s:x")
	nothing, _ := FirstTurns(0)
	for _, test := range []struct {
		name     string
		from, to Bound
		want     string
	}{
		{"open", Bound{}, Bound{}, "0..3"},
		{"turns", AtTurn(1), AtTurn(2), "1..2"},
		{"end behind the end", AtTurn(3), AtTurn(99), "3..3"},
		{"start behind the end", AtTurn(4), Bound{}, ""},
		{"start before the start", FromEnd(99), FromEnd(2), "0..1"},
		{"end before the start", Bound{}, FromEnd(4), ""},
		{"crossed", AtTurn(2), AtTurn(1), ""},
		{"after compaction", afterLastCompaction(), Bound{}, "2..3"},
		{"up to after compaction", Bound{}, afterLastCompaction(), "0..2"},
		{"nothing", nothing, Bound{}, ""},
		{"to nothing", Bound{}, nothing, ""},
		{"since the middle of a turn", AtTime(second(5)), Bound{}, "2..3"},
		{"since before all", AtTime(second(0)), Bound{}, "0..3"},
		{"since after all", AtTime(second(99)), Bound{}, ""},
		{"until the middle of a turn", Bound{}, AtTime(second(5)), "0..1"},
		{"until the start of a turn", Bound{}, AtTime(second(7)), "0..2"},
		{"until before all", Bound{}, AtTime(second(0)), ""},
		{"until after all", Bound{}, AtTime(second(99)), "0..3"},
	} {
		if got := resolved(s, test.from, test.to); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func resolved(s *Stream, from, to Bound) string {
	r, ok := s.ResolveRange(from, to)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d..%d", r.From, r.To)
}

func TestResolveRangeOfNothing(t *testing.T) {
	s := sketched(t, "D C0-9r")
	for _, b := range []Bound{{}, AtTurn(0), FromEnd(0), afterLastCompaction(), AtTime(second(1))} {
		if got := resolved(s, b, Bound{}) + resolved(s, Bound{}, b); got != "" {
			t.Errorf("%+v of no turns is %s", b, got)
		}
	}
}

func TestFirstAndLastTurns(t *testing.T) {
	s := sketched(t, "T q T q T q")
	for n, want := range []string{"|", "0..0|2..2", "0..1|1..2", "0..2|0..2", "0..2|0..2"} {
		firstFrom, firstTo := FirstTurns(n)
		lastFrom, lastTo := LastTurns(n)
		got := resolved(s, firstFrom, firstTo) + "|" + resolved(s, lastFrom, lastTo)
		if got != want {
			t.Errorf("%d turns: %s, want %s", n, got, want)
		}
	}
}

func TestParseTurnRange(t *testing.T) {
	s := sketched(t, "T q T q T q T q T q")
	for _, test := range []struct{ spec, turns, compact string }{
		{"3", "2..2", "2..4"},
		{"-1", "4..4", "0..4"},
		{"-2", "3..3", "0..3"},
		{"2..4", "1..3", "1..3"},
		{"2..", "1..4", "1..4"},
		{"..2", "0..1", "0..1"},
		{"..", "0..4", "0..4"},
		{"-3..-2", "2..3", "2..3"},
		{"..-3", "0..2", "0..2"},
		{"9", "", ""},
		{"4..2", "", ""},
	} {
		from, to, err := ParseTurnRange(test.spec)
		if got := resolved(s, from, to); err != nil || got != test.turns {
			t.Errorf("ParseTurnRange(%q) = %s, %v, want %s", test.spec, got, err, test.turns)
		}
		from, to, err = ParseCompactRange(test.spec)
		if got := resolved(s, from, to); err != nil || got != test.compact {
			t.Errorf("ParseCompactRange(%q) = %s, %v, want %s", test.spec, got, err, test.compact)
		}
	}
}

func TestParseTurnRangeErrors(t *testing.T) {
	for _, spec := range []string{
		"", "0", "-0", "0..3", "1..0", "1..-0", "x", "1-3", "+1", "--1", "1...3", "1..2..3",
		" 1", "1.5", "99999999999999999999", "-",
	} {
		_, _, err := ParseTurnRange(spec)
		_, _, compactErr := ParseCompactRange(spec)
		if err == nil || compactErr == nil {
			t.Errorf("%q is taken for turns", spec)
			continue
		}
		if !strings.Contains(err.Error(), fmt.Sprintf("%q", spec)) {
			t.Errorf("error does not name %q: %v", spec, err)
		}
	}
}

func TestParseBound(t *testing.T) {
	for _, test := range []struct {
		in   string
		want Bound
	}{
		{"3", AtTurn(2)},
		{"-3", FromEnd(2)},
		{"last-compaction", afterLastCompaction()},
		{"LAST", afterLastCompaction()},
	} {
		if got, err := ParseBound(test.in); err != nil || got != test.want {
			t.Errorf("ParseBound(%q) = %+v, %v", test.in, got, err)
		}
	}
	for _, in := range []string{"", "0", "5h", "2..3"} {
		if b, err := ParseBound(in); err == nil {
			t.Errorf("ParseBound(%q) = %+v", in, b)
		}
	}
	if n, ok := AtTurn(7).Turn(); n != 7 || !ok {
		t.Errorf("Turn = %d, %t", n, ok)
	}
	if _, ok := AtTime(time.Time{}).Turn(); ok {
		t.Error("a time is a turn")
	}
}

func TestExtendForSummary(t *testing.T) {
	for _, test := range []struct {
		sketch string
		in     Range
		want   Range
	}{
		{"C0-9r", Range{2, 3}, Range{2, 3}},                   // no summary
		{"C0-1s:x C4-5s:x", Range{2, 3}, Range{2, 3}},         // beside, not touching
		{"C0-2s:x C4-5s:x", Range{2, 3}, Range{0, 3}},         // overlap
		{"C0-9s:x", Range{2, 3}, Range{0, 9}},                 // inside
		{"C5-8s:x C0-2s:x C2-5s:x", Range{8, 8}, Range{0, 8}}, // chain, any order
		{"C3-3s:x", Range{2, 4}, Range{2, 4}},                 // around
	} {
		if got := sketched(t, test.sketch).ExtendForSummary(test.in); got != test.want {
			t.Errorf("%s: %v extends to %v, want %v", test.sketch, test.in, got, test.want)
		}
	}
}

// The result equals that of jp's method, which repeats until nothing changes.
func TestExtendForSummaryReachesTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := New()
		turn := rapid.IntRange(0, 14)
		for range rapid.IntRange(0, 6).Draw(t, "compactions") {
			c := &Compaction{FromTurn: turn.Draw(t, "from"), ToTurn: turn.Draw(t, "to")}
			if rapid.IntRange(0, 4).Draw(t, "summary") > 0 {
				c.Summary = new(string)
			}
			s.Append(NewElement(second(0), c, Metadata{}))
		}
		r := Range{From: turn.Draw(t, "first")}
		r.To = r.From + rapid.IntRange(0, 4).Draw(t, "more")
		want := r
		for changed := true; changed; {
			changed = false
			for _, c := range s.compactions() {
				if c.Summary == nil || want.From > c.ToTurn || want.To < c.FromTurn {
					continue
				}
				grown := Range{min(want.From, c.FromTurn), max(want.To, c.ToTurn)}
				changed = changed || grown != want
				want = grown
			}
		}
		if got := s.ExtendForSummary(r); got != want {
			t.Errorf("%v extends to %v, want %v\n%s", r, got, want, sketch(s))
		}
	})
}
