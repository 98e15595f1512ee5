package search

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestAnchorsMeanLines checks that ^ and $ match the ends of any line.
func TestAnchorsMeanLines(t *testing.T) {
	for pattern, want := range map[string]int{
		"^two": 2, "one$": 1, "^three$": 3, `\Atwo`: 2, `two\z`: 2, `(?:^|x)two`: 2, "^$": 0,
	} {
		p, err := Compile(Query{Pattern: pattern, Regexp: true})
		if err != nil {
			t.Fatal(err)
		}
		lines := p.lines("one\ntwo\nthree\n")
		switch {
		case want == 0 && lines != nil:
			t.Errorf("%s: %v, want none", pattern, lines)
		case want > 0 && (len(lines) != 1 || lines[0].Number != want):
			t.Errorf("%s: %v, want line %d", pattern, lines, want)
		}
	}
}

// TestTheFilterLosesNothing compares the results with a search without the filter.
func TestTheFilterLosesNothing(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"a", "k", "S", "sk", "ab", "\u212a", "\u017f", "é", "É", ".", "a*", "(?:ab)+", "[ab]", "^",
		"$", `\b`, "(a|k)", "(?:sk){2}", "x?", "(?i:K)", "(?-i:s)",
	})
	letter := rapid.SampledFrom([]string{
		"a", "A", "b", "k", "K", "s", "S", "\u212a", "\u017f", "é", "É", "\n", " ", "x",
	})
	rapid.Check(t, func(t *rapid.T) {
		pattern := strings.Join(rapid.SliceOfN(piece, 1, 4).Draw(t, "pattern"), "")
		text := strings.Join(rapid.SliceOfN(letter, 0, 12).Draw(t, "text"), "")
		q := Query{Pattern: pattern, Regexp: rapid.Bool().Draw(t, "regexp")}
		q.Case = rapid.SampledFrom([]Case{CaseSmart, CaseIgnore, CaseExact}).Draw(t, "case")
		p, err := Compile(q)
		if err != nil {
			t.Skip(err)
		}
		plain := &Pattern{re: regexp.MustCompile(p.re.String())}
		if got, want := len(p.lines(text)), len(plain.lines(text)); got != want {
			t.Fatalf("%d lines of %q match %q, want %d", got, text, pattern, want)
		}
	})
}
