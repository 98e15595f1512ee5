package file

import (
	"bytes"
	"strconv"
	"strings"
)

// Lines returns uri with a fragment for the lines from to to, counted from 1, both included. A
// single line is a range too, so that it has only one spelling.
func Lines(uri string, from, to int) string {
	base, _ := Split(uri)
	return base + "#L" + strconv.Itoa(from) + "-" + strconv.Itoa(to)
}

// Split splits a URI at the '#' of its fragment.
func Split(uri string) (base, fragment string) {
	base, fragment, _ = strings.Cut(uri, "#")
	return base, fragment
}

// ParseLines reads a fragment of [Lines], or other spellings for lines: "L10", "L10-20", "L10-L20".
func ParseLines(fragment string) (from, to int, ok bool) {
	first, last, ranged := strings.Cut(fragment, "-")
	from, ok = line(first)
	if !ok || !ranged {
		return from, from, ok
	}
	if !strings.HasPrefix(last, "L") {
		last = "L" + last
	}
	to, ok = line(last)
	return from, to, ok && to >= from
}

func line(s string) (int, bool) {
	digits, ok := strings.CutPrefix(s, "L")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n > 0 && digits[0] != '+'
}

// Cut returns the lines from to to of data, counted from 1, both included, and the last line
// returned: to is limited to the last line of data, and 0 means that line. ok is false if no line
// is in the range. The last line counts with or without a line feed.
func Cut(data []byte, from, to int) (part []byte, last int, ok bool) {
	if from < 1 || to != 0 && to < from {
		return nil, 0, false
	}
	start, n := -1, 0
	for at := 0; at < len(data); {
		if n++; n == from {
			start = at
		}
		next := nextLine(data, at)
		if n == to {
			return data[start:next], n, true
		}
		at = next
	}
	if start < 0 {
		return nil, 0, false
	}
	return data[start:], n, true
}

// nextLine returns the start of the line after the one at at.
func nextLine(data []byte, at int) int {
	if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(data)
}
