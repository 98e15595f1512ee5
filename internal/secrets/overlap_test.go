package secrets

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestOverlapsOnBranches: of ranges that overlap each branch redacted one. The entries of both make
// the same text of each version, without what either removed.
func TestOverlapsOnBranches(t *testing.T) {
	const text = "0123456789abcdefghijklmnopqrstuvwxyz"
	for _, of := range [][][2]int{
		{{5, 15}, {10, 20}},
		{{5, 25}, {10, 15}},
		{{5, 15}, {5, 20}},
		{{5, 30}, {8, 12}, {20, 24}},
		{{5, 15}, {10, 20}, {18, 30}},
		{{5, 15}, {15, 20}},
		{{5, 15}, {20, 25}},
		{{5, 30}, {8, 12}, {25, 34}},
		{{2, 30}, {4, 36}}, // the text with a marker ends before the first range
	} {
		var all []Range
		for i, r := range of {
			all = append(all, NewRange([]byte(text), Match{Rule: []string{"first", "second", "third"}[i], Start: r[0], End: r[1]}))
		}
		rs := Redactions{}
		rs.Add(Redaction{Conversation: "1", Event: "e", Ranges: all})
		sorted := rs["1"]["e"][""]
		want, _, _ := redactRanges([]byte(text), sorted)
		for i := range all {
			for _, before := range [][]Range{{all[i]}, slices.Delete(slices.Clone(sorted), i, i+1)} {
				version, _, _ := redactRanges([]byte(text), before)
				sorted := slices.Clone(sorted)
				for i := range all { // on another branch
					other, _, _ := redactRanges([]byte(text), all[i:i+1])
					prove(other, sorted)
				}
				got, _, _ := redactRanges(version, sorted)
				if string(got) != string(want) {
					t.Errorf("%v: %s gives %s, want %s", of, version, got, want)
				}
				if again, values, _ := redactRanges(got, sorted); string(again) != string(got) || len(values) > 0 {
					t.Errorf("%v: %s gives %s again", of, got, again)
				}
			}
		}
	}
	edited := "01234X6789" + "[redacted:second]" + "klmnopqrstuvwxyz"
	first, second := NewRange([]byte(text), Match{Rule: "first", Start: 2, End: 8}), NewRange([]byte(text), Match{Rule: "second", Start: 10, End: 20})
	if got, _, _ := redactRanges([]byte(edited), []Range{first, second}); string(got) != edited {
		t.Errorf("a text that no longer matches becomes %s", got)
	}
}

// TestRangesOfOtherTexts: an entry of a stranger may have any ranges, and another version proves them.
// What is before the first of them stays.
func TestRangesOfOtherTexts(t *testing.T) {
	piece := rapid.SampledFrom([]string{"x", "yz", "xyzw", Marker("a"), Marker("b")})
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "text"), ""))
		var ranges []Range
		at := 0
		for range rapid.IntRange(0, 5).Draw(t, "ranges") {
			at += rapid.IntRange(0, 6).Draw(t, "from")
			g := Range{
				From: at, To: at + rapid.IntRange(1, 12).Draw(t, "length"),
				Rule: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "rule"), proven: rapid.Bool().Draw(t, "proven"),
			}
			if g.To <= len(text) && rapid.Bool().Draw(t, "matches") {
				g.Check = check(text[g.From:g.To])
			}
			ranges = append(ranges, g)
		}
		out, _, _ := redactRanges(text, ranges)
		kept := text
		if len(ranges) > 0 {
			kept = text[:min(len(text), ranges[0].From)]
		}
		if !bytes.HasPrefix(out, kept) {
			t.Fatalf("%q becomes %q, without %q", text, out, kept)
		}
		prove(text, ranges)
		redactRanges(out, ranges)
	})
}
