package render

import (
	"strings"
	"testing"
)

// TestAbridge verifies that a patch of a huge result stays small, and says how much was left out.
func TestAbridge(t *testing.T) {
	lines := func(mark, text string, n int) string { return strings.Repeat(mark+text+"\n", n) }
	for name, c := range map[string]struct{ patch, want string }{
		"short": {"--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n", "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n"},
		"a long run, and what comes for it": {
			lines("-", "x", shownRun+40) + "+y\n",
			lines("-", "x", shownRun) + "\\ 40 more lines, 80 bytes\n+y\n",
		},
		"two runs that are not too long": {
			lines("-", "x", shownRun) + lines("+", "y", shownRun),
			lines("-", "x", shownRun) + lines("+", "y", shownRun),
		},
		"one more line": {
			lines("+", "x", shownRun+1), lines("+", "x", shownRun) + "\\ 1 more line, 2 bytes\n",
		},
		"a long line, cut where a character begins": {
			"-" + strings.Repeat("é", shownLine) + "\n",
			"-" + strings.Repeat("é", shownLine/2-1) + "… 1.0 kB more\n",
		},
	} {
		if got := Abridge(c.patch); got != c.want {
			t.Errorf("%s: …%q, want …%q", name, got[max(0, len(got)-80):], c.want[max(0, len(c.want)-80):])
		}
	}
}
