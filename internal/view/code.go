package view

import (
	"strings"

	"github.com/git-jp/git-jp/internal/render"
)

// mostCode is how many bytes of code of a page are coloured: colours make it three times as large.
const mostCode = 500_000

// A budget is how much code may still be coloured.
type budget struct{ left int }

// scrolls marks an element that may be wider than the page: a region that the keyboard reaches.
func scrolls() attr { return attr{"tabindex", "0"} }

// tokenClass returns the class of a piece of code.
func tokenClass(kind render.TokenKind) string {
	switch kind {
	case render.TokenKeyword:
		return "k"
	case render.TokenString:
		return "s"
	case render.TokenNumber:
		return "n"
	default:
		return "c"
	}
}

// write writes code, in colours while the budget lasts.
func (b *budget) write(m *markup, language, code string) {
	if !render.IsLanguage(language) || len(code) > b.left {
		m.text(code)
		return
	}
	b.left -= len(code)
	for line := range strings.Lines(code) {
		text, end := strings.CutSuffix(line, "\n")
		render.Tokens(language, text, func(kind render.TokenKind, text string) {
			if kind == render.TokenPlain {
				m.text(text)
				return
			}
			m.put("i", text, class(tokenClass(kind)))
		})
		if end {
			m.raw("\n")
		}
	}
}

// writePatch writes a diff, a line an element, so that added and removed lines differ by more than
// their colour: they keep their signs.
func writePatch(m *markup, patch string) {
	m.open("pre", class("patch"), scrolls())
	for line := range strings.Lines(patch) {
		line = strings.TrimSuffix(line, "\n")
		switch kind := patchKind(line); kind {
		case "":
			m.text(line)
		default:
			m.put(kind, line)
		}
		m.raw("\n")
	}
	m.end("pre")
}

// patchKind returns the element of a line of a diff, "" for none.
func patchKind(line string) name {
	switch {
	case strings.HasPrefix(line, "@@"), strings.HasPrefix(line, "*** "),
		strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "),
		strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "index "):
		return "b"
	case strings.HasPrefix(line, "+"):
		return "ins"
	case strings.HasPrefix(line, "-"):
		return "del"
	default:
		return ""
	}
}
