package view

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/git-jp/git-jp/internal/render"
)

// How much of a long text is shown at first, and how much of the rest in one piece: a browser lays
// out a closed piece only when it is opened.
const (
	shownLines = 30
	shownBytes = 4000
	pieceBytes = 200_000
)

// cutText returns the end of the part of a text that is shown at once; the whole length if the rest
// would not be worth a click.
func cutText(s string) int {
	const spare = 2 // a rest of less than half is shown too
	at, lines := 0, 0
	for at < len(s) && lines < shownLines && at < shownBytes {
		n := strings.IndexByte(s[at:], '\n') + 1
		if n == 0 {
			n = len(s) - at
		}
		at += n
		lines++
	}
	if at > spare*shownBytes {
		at = runeStart(s, shownBytes)
	}
	if len(s)-at < shownBytes/spare && strings.Count(s[at:], "\n") < shownLines/spare {
		return len(s)
	}
	return at
}

// runeStart returns the beginning of the character that has byte i.
func runeStart(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// long writes a text of any length by f: its beginning, and the rest in closed pieces that show
// their size, or on the page beside.
func long(m *markup, s string, f func(piece string)) {
	at := cutText(s)
	f(s[:at])
	rest := s[at:]
	if !m.hasRoom(len(rest)) {
		m.leave(more(rest), func() { pieces(rest, f) })
		return
	}
	pieces(rest, func(piece string) {
		m.rest(more(piece), len(piece), func() { f(piece) })
	})
}

// pieces calls f with the parts of a text, complete lines if these are not longer.
func pieces(rest string, f func(piece string)) {
	for rest != "" {
		n := len(rest)
		if n > pieceBytes {
			n = runeStart(rest, pieceBytes)
			if end := strings.LastIndexByte(rest[:n], '\n'); end > 0 {
				n = end + 1
			}
		}
		f(rest[:n])
		rest = rest[n:]
	}
}

// more says how much text a piece has.
func more(piece string) string {
	lines := strings.Count(strings.TrimSuffix(piece, "\n"), "\n") + 1
	if lines == 1 {
		return fmt.Sprintf("%s more", render.Bytes(int64(len(piece))))
	}
	return fmt.Sprintf("%s more lines, %s", render.Number(int64(lines)),
		render.Bytes(int64(len(piece))))
}
