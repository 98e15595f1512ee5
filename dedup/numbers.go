package dedup

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// numberOf returns the number before a line, its width, and the mark after it, or "" if there is
// none.
func numberOf(line string) (n, width int, mark string) {
	digits := strings.TrimLeft(line, " ")
	end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' })
	if end <= 0 || end > 9 || digits[0] == '0' {
		return 0, 0, ""
	}
	n, _ = strconv.Atoi(digits[:end]) // at most nine digits
	for _, mark := range []string{"→", "\t"} {
		if strings.HasPrefix(digits[end:], mark) {
			return n, len(line) - len(digits) + end, mark
		}
	}
	return 0, 0, ""
}

// numbered returns which lines a text shows, by the consecutive numbers before its first lines.
// Text after the last numbered line is not counted.
func numbered(text string) (first, last int, ok bool) {
	for line := range strings.Lines(text) {
		n, _, mark := numberOf(line)
		switch {
		case mark == "" || last > 0 && n != last+1:
			return first, last, last > 0
		case last == 0:
			first = n
		}
		last = n
	}
	return first, last, last > 0
}

// A sheet is a text split into lines, with the numbers that a tool put before them separated.
type sheet struct {
	lines []string // complete
	bare  []string // without numbers
	first int      // number of the first line, 1 if it has none
	heads []string // the numbers of the lines that have consecutive ones, from the first on
}

// newSheet splits a text after each newline. Only numbers that a single format produces are
// separated, so that they can be written again.
func newSheet(text string) sheet {
	s := sheet{lines: split(text), first: 1}
	s.bare = s.lines
	if len(s.lines) == 0 {
		return s
	}
	first, width, mark := numberOf(s.lines[0])
	if mark == "" {
		return s
	}
	s.first, s.bare = first, slices.Clone(s.lines)
	for i, line := range s.lines {
		head := fmt.Sprintf("%*d%s", width, first+i, mark)
		bare, ok := strings.CutPrefix(line, head)
		if !ok {
			break
		}
		s.bare[i], s.heads = bare, append(s.heads, head)
	}
	return s
}
