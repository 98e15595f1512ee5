package render

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// What a patch has at most of lines that go or come together, and of one line in bytes: who wants
// to read the rest has 'git jp print'.
const (
	shownRun  = 60
	shownLine = 1000
)

// Abridge is a patch for people: of a long run of lines the first ones, and how many more there
// are. The mark of that begins as git's own remarks in patches do.
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

// clipped is a line, or its beginning, and how much more there is.
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
