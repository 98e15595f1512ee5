package render

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Sanitize returns s such that a terminal can only show it. Line feeds and tabs stay, and a
// carriage return before a line feed is removed. Complete colour sequences (SGR) are removed too:
// programs that tools ran leave thousands of them, and the text reads as intended without them.
// Everything else that a terminal could obey or that hides or reorders text becomes a visible
// escape such as \x1b or \u202e: the other C0 controls and DEL, the C1 controls in both encodings,
// bidirectional overrides and isolates, line and paragraph separators, characters without a picture
// that no text needs, and bytes that are not UTF-8.
//
// Sanitising twice is the same as sanitising once.
func Sanitize(s string) string { return sanitize(0, s, true) }

// Exact is [Sanitize] for text that a person approves before it is written or run: colour sequences
// and all other characters without a picture are shown too, since they are part of it.
func Exact(s string) string { return sanitize(0, s, false) }

func sanitize(prev rune, s string, plain bool) string {
	i, prev := firstUnsafe(prev, s, !plain)
	if i < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	b.WriteString(s[:i])
	for i < len(s) {
		if n := SGRLen(s[i:]); plain && n > 0 {
			i += n
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
			r = 'x'
		case r == '\r' && strings.HasPrefix(s[i:], "\r\n"):
		case unsafe(r) || unseen(prev, r, !plain):
			writeRuneEscape(&b, r)
			r = 'x' // of which the escape consists
		default:
			b.WriteString(s[i : i+size])
		}
		prev, i = r, i+size
	}
	return b.String()
}

// firstUnsafe returns the offset of the first byte that is changed, or -1, and the character before
// it.
func firstUnsafe(before rune, s string, approved bool) (at int, prev rune) {
	prev = before
	for i, r := range s {
		if r >= ' ' && r < 0x7f || r == '\n' { // most text
			prev = r
			continue
		}
		if unsafe(r) || unseen(prev, r, approved) {
			return i, prev
		}
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return i, prev
			}
		}
		prev = r
	}
	return -1, prev
}

// unsafe reports whether r must not reach a terminal unchanged.
func unsafe(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r <= 0x9f: // C0, DEL, C1
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // bidirectional
		return true
	case r == 0x2028, r == 0x2029: // separators at which some programs break lines
		return true
	}
	return false
}

// SGRLen returns the length of the SGR sequence at the beginning of s, 0 for none.
func SGRLen(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c == 'm':
			return i + 1
		case c < '0' || c > ';':
			return 0
		}
	}
	return 0
}

func writeRuneEscape(b *strings.Builder, r rune) {
	switch {
	case r < 0x80:
		fmt.Fprintf(b, `\x%02x`, r)
	case r > 0xffff:
		fmt.Fprintf(b, `\U%08x`, r)
	default:
		fmt.Fprintf(b, `\u%04x`, r)
	}
}

// oneLine replaces every run of white space that has a line break by a space.
func oneLine(s string) string {
	if !strings.ContainsAny(s, "\n\r\t\v\f\u0085\u2028\u2029") {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

// longestLine is the longest line of a message, in bytes: about half of the longest path.
const longestLine = 2048

// Message sanitises a message of several lines, and removes the middle of lines that are too long
// to read: paths and titles of any length are a stranger's choice, and so are line breaks. All
// lines but the first are indented, so that none looks like another message.
func Message(s string) string {
	lines := strings.Split(Sanitize(s), "\n")
	for i, line := range lines {
		if n := len(line); n > longestLine {
			lines[i] = strings.ToValidUTF8(line[:longestLine/2], "") + " … " +
				strings.ToValidUTF8(line[n-longestLine/2:], "")
		}
	}
	return strings.Join(lines, "\n  ")
}
