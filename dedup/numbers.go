package dedup

import (
	"strconv"
	"strings"
)

// numbersOf cuts the number off a line, "" for the mark where it has none.
func numbersOf(line string) (n, width int, mark, text string) {
	digits := strings.TrimLeft(line, " ")
	end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' })
	if end <= 0 || end > 9 || digits[0] == '0' {
		return 0, 0, "", line
	}
	n, _ = strconv.Atoi(digits[:end]) // nine digits
	for _, mark := range []string{"→", "\t"} {
		if text, ok := strings.CutPrefix(digits[end:], mark); ok {
			return n, len(line) - len(digits) + end, mark, text
		}
	}
	return 0, 0, "", line
}

// numbered returns which lines a text shows, by the numbers before them: from the first on, one
// behind the other. What stands behind the last one is no line.
func numbered(text string) (first, last int, ok bool) {
	for line := range strings.Lines(text) {
		n, _, mark, _ := numbersOf(line)
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
