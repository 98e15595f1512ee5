package chat

import "strings"

const (
	openTag  = "<think>"
	closeTag = "</think>"
)

// A tagged reader finds the thoughts that a server leaves in what is said, between tags at its
// beginning: servers that run a model without knowing its template do. Fragments may end
// inside of a tag.
type tagged struct {
	state tagState
	held  string // what may be a tag
}

type tagState int

const (
	tagUnknown tagState = iota
	tagOpened           // inside, where nothing was thought yet
	tagInside
	tagClosed // behind, where nothing was said yet
	tagDone
)

const space = " \t\r\n"

// split takes the next fragment apart.
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

// inside returns what is thought, and what stands behind the tag that closes it.
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

// rest returns what was held back when nothing more comes.
func (t *tagged) rest() (thought, said string) {
	held := t.held
	t.held = ""
	if t.state == tagUnknown {
		return "", held
	}
	return held, ""
}
