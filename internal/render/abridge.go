package render

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The most lines of a run of removed or added lines in a patch, and the most bytes of one line:
// 'git jp print' shows the rest.
const (
	shownRun  = 60
	shownLine = 1000
)

// Abridge shortens a patch for people: the first lines of a long run, and how many more there are.
// That count begins like git's own remarks in patches.
func Abridge(patch string) string {
	var b strings.Builder
	var kind byte
	run, left, bytes := 0, 0, int64(0)
	flush := func() {
		if left > 0 {
			fmt.Fprintf(&b, "\\ %s, %s\n", Count(left, "more line"), Bytes(bytes))
		}
		run, left, bytes = 0, 0, 0
	}
	for line := range strings.Lines(patch) {
		if line[0] != kind {
			flush()
			kind = line[0]
		}
		if run++; run > shownRun {
			left, bytes = left+1, bytes+int64(len(line)-1)
			continue
		}
		b.WriteString(clipped(line))
	}
	flush()
	return b.String()
}

// clipped returns a line, or its beginning, and how much more there is.
func clipped(line string) string {
	if len(line) <= shownLine {
		return line
	}
	at := shownLine
	for !utf8.RuneStart(line[at]) {
		at--
	}
	left := len(strings.TrimSuffix(line, "\n")) - at
	return fmt.Sprintf("%s… %s more\n", line[:at], Bytes(int64(left)))
}
