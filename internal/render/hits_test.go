package render

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

// A line is cut around the match: it fits, is harmless, and shows the match.
func TestHitsFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Output{
			Terminal: true, Color: rapid.Bool().Draw(t, "color"),
			Width: rapid.IntRange(30, 120).Draw(t, "width"),
		}
		before := strings.ReplaceAll(hostileText().Draw(t, "before"), "\n", " ")
		after := strings.ReplaceAll(hostileText().Draw(t, "after"), "\n", " ")
		line := before + "needle" + after
		spans := [][]int{{len(before), len(before) + len("needle")}}
		if n := len(line); rapid.Bool().Draw(t, "again") { // a hit that the cut removes
			line += "needle"
			spans = append(spans, []int{n, len(line)})
		}
		var b strings.Builder
		h := NewHits(&b, o)
		if err := h.Line(Hit{Group: "g", Place: "1: ", Text: line, Spans: spans}); err != nil {
			t.Fatal(err)
		}
		harmless(t, o, b.String())
		_, shown, _ := strings.Cut(b.String(), "\n")
		if w := ansi.StringWidth(shown); w > o.Width {
			t.Fatalf("%d columns, the terminal has %d: %q", w, o.Width, shown)
		}
		if strings.Contains(shown, "\x1b[1;31m\x1b[m") {
			t.Fatalf("a mark has no text: %q", shown)
		}
		if !strings.Contains(ansi.Strip(shown), "needle") {
			t.Fatalf("the match is not in %q", shown)
		}
	})
}
