package chat

import "strings"

const (
	openTag  = "<think>"
	closeTag = "</think>"
)

// A tagged reader separates thoughts between tags at the beginning of the text, which servers send
// that run a model without knowing its template. Fragments may end within a tag.
type tagged struct {
	state tagState
	held  string // a possible part of a tag
}

type tagState int

const (
	tagUnknown tagState = iota
	tagOpened           // inside, before the first thought
	tagInside
	tagClosed // after the tags, before the first text
	tagDone
)

const space = " \t\r\n"

// split separates the next fragment.
func (t *tagged) split(fragment string) (thought, said string) {
	text := t.held + fragment
	t.held = ""
	if t.state == tagUnknown {
		start := strings.TrimLeft(text, space)
		switch {
		case strings.HasPrefix(start, openTag):
			t.state, text = tagOpened, start[len(openTag):]
		case strings.HasPrefix(openTag, start):
			t.held = text
			return "", ""
		default:
			t.state = tagDone
		}
	}
	if t.state == tagOpened || t.state == tagInside {
		thought, text = t.inside(text)
	}
	if t.state == tagClosed {
		if text = strings.TrimLeft(text, space); text != "" {
			t.state = tagDone
		}
	}
	return thought, text
}

// inside returns the thoughts, and the text after the closing tag.
func (t *tagged) inside(text string) (thought, rest string) {
	if t.state == tagOpened {
		if text = strings.TrimLeft(text, space); text == "" {
			return "", ""
		}
		t.state = tagInside
	}
	if thought, rest, closed := strings.Cut(text, closeTag); closed {
		t.state = tagClosed
		return thought, rest
	}
	n := len(text)
	for i := 1; i < len(closeTag) && i <= n; i++ {
		if strings.HasPrefix(closeTag, text[n-i:]) {
			t.held = text[n-i:]
		}
	}
	return text[:n-len(t.held)], ""
}

// rest returns the text that was held back at the end of the stream.
func (t *tagged) rest() (thought, said string) {
	held := t.held
	t.held = ""
	if t.state == tagUnknown {
		return "", held
	}
	return held, ""
}
