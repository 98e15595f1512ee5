package render

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The most bytes that a span may have on its line, and the destination of a link: a span that is
// not closed by then stays plain.
const (
	maxSpan        = 200
	maxDestination = 2 << 10
)

// A spanScan is how far a line was scanned for spans. The delimiter at at is either open, or, if
// plain is not 0, has that length and is never closed.
type spanScan struct{ at, plain int }

// openSpan scans a line from an offset on, where no span is open. Ended says that the line is
// complete. It knows the rules of CommonMark well enough to recognise an incomplete span: a span
// that it misjudges is written verbatim.
func openSpan(line string, from int, ended bool) spanScan {
	for i := from; i < len(line); {
		n := strings.IndexAny(line[i:], "\\`*_~[<")
		if n < 0 {
			break
		}
		i += n
		if line[i] == '\\' {
			i += 2
			continue
		}
		d := delimiterAt(line, i)
		end, closed := d.end(line)
		switch {
		case !d.opens:
			i += d.n
		case closed:
			i = end
		case ended || d.window(line) < len(line):
			return spanScan{i, d.n}
		default:
			return spanScan{at: i}
		}
	}
	return spanScan{at: len(line)}
}

// A delimiter is a run of characters with which a span may begin.
type delimiter struct {
	at, n  int
	char   byte
	opens  bool
	closes bool
}

func delimiterAt(line string, i int) delimiter {
	d := delimiter{at: i, n: 1, char: line[i]}
	next := byte(' ')
	switch d.char {
	case '[':
		d.opens = true
		return d
	case '<':
		if i+1 < len(line) {
			next = line[i+1]
		}
		d.opens = next == '/' || next == '!' || next == '?' || unicode.IsLetter(rune(next))
		return d
	}
	for i+d.n < len(line) && line[i+d.n] == d.char {
		d.n++
	}
	if d.char == '`' {
		d.opens = true
		return d
	}
	d.flank(line)
	return d
}

// flank finds out whether a run can open and close emphasis, by CommonMark 6.2.
func (d *delimiter) flank(line string) {
	before, _ := utf8.DecodeLastRuneInString(line[:d.at])
	behind, _ := utf8.DecodeRuneInString(line[d.at+d.n:])
	space := func(r rune) bool { return r == utf8.RuneError || unicode.IsSpace(r) }
	punct := func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }
	left := !space(behind) && (!punct(behind) || space(before) || punct(before))
	right := !space(before) && (!punct(before) || space(behind) || punct(behind))
	d.opens, d.closes = left, right
	switch d.char {
	case '_':
		d.opens, d.closes = left && (!right || punct(before)), right && (!left || punct(behind))
	case '~':
		d.opens, d.closes = left && d.n <= 2, right && d.n <= 2
	}
}

// window returns the limit of the search for the end of the span.
func (d delimiter) window(line string) int {
	return min(len(line), d.at+d.n+maxSpan)
}

// end returns where the span at the delimiter ends.
func (d delimiter) end(line string) (end int, closed bool) {
	text := line[:d.window(line)]
	switch d.char {
	case '`':
		return codeEnd(text, d)
	case '<':
		n := strings.IndexByte(text[d.at:], '>')
		return d.at + n + 1, n > 0
	case '[':
		return linkEnd(line, text, d)
	default:
		return emphasisEnd(text, d)
	}
}

// codeEnd looks for a run of backticks of the same length.
func codeEnd(text string, d delimiter) (int, bool) {
	for i := d.at + d.n; i < len(text); {
		n := strings.IndexByte(text[i:], '`')
		if n < 0 {
			break
		}
		run := delimiterAt(text, i+n)
		i += n + run.n
		if run.n == d.n {
			return i, true
		}
	}
	return 0, false
}

// linkEnd looks for the bracket that closes a text, and for the destination after it. A text
// without a destination is no link, and closed at its first bracket.
func linkEnd(line, text string, d delimiter) (int, bool) {
	shut, ok := closing(text, d.at, '[', ']')
	switch {
	case !ok:
		return 0, false
	case !strings.HasPrefix(line[shut:], "("):
		return d.at + 1, true
	}
	return closing(line[:min(len(line), shut+maxDestination)], shut, '(', ')')
}

// closing returns the offset after the bracket that closes the one at an offset.
func closing(text string, from int, open, shut byte) (end int, ok bool) {
	depth := 0
	for i := from; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case open:
			depth++
		case shut:
			if depth--; depth == 0 {
				return i + 1, true
			}
		}
	}
	return 0, false
}

// emphasisEnd looks for runs that close as many characters as are open.
func emphasisEnd(text string, d delimiter) (int, bool) {
	depth := d.n
	for i := d.at + d.n; i < len(text); {
		switch text[i] {
		case '\\':
			i += 2
			continue
		case '`':
			code := delimiterAt(text, i)
			if end, ok := codeEnd(text, code); ok {
				i = end
			} else {
				i += code.n
			}
			continue
		case d.char:
		default:
			i++
			continue
		}
		run := delimiterAt(text, i)
		i += run.n
		switch {
		case run.closes:
			depth -= run.n
		case run.opens:
			depth += run.n
		}
		if depth <= 0 {
			return i, true
		}
	}
	return 0, false
}

// escaped returns a delimiter as literal text.
func escaped(run string) string {
	var b strings.Builder
	for i := range len(run) {
		b.WriteByte('\\')
		b.WriteByte(run[i])
	}
	return b.String()
}
