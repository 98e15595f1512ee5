package secrets

import (
	"bytes"
	"strings"
)

// maxBeside is how far behind a name that is a value itself, as in {"name": "DB_PASSWORD", "value":
// "..."}, the value may be that it names.
const maxBeside = 200

// isMember reports whether the name at start is the value of a member, or of an element.
func isMember(text []byte, start int) bool {
	i := start - len(nameAt(text, start, start))
	if i > 0 && isQuote(text[i-1]) {
		i--
	}
	for end := i - maxGap; i > 0 && i > end && text[i-1] == ' '; {
		i--
	}
	return i > 1 && strings.IndexByte(":=>", text[i-1]) >= 0
}

// besideName returns the range of the value that a member such as "value" has, in the object or
// the list of settings that continues at i.
func besideName(text []byte, i int) (int, int) {
	i = valueBeside(text, i)
	if i > 0 && text[i-1] == '>' {
		return element(text, i)
	}
	return literal(text, i)
}

// valueBeside returns the position of that value, or the end of the text. A second name ends the
// search.
func valueBeside(text []byte, i int) int {
	if bytes.HasPrefix(text[i:], []byte("</")) {
		i += 1 + max(0, bytes.IndexByte(text[i:min(len(text), i+maxName)], '>'))
	}
	for end := min(len(text), i+maxBeside); i < end && text[i] != '{' && text[i] != '}'; {
		if !isName(text[i]) {
			i++
			continue
		}
		start := i
		for i < len(text) && i-start < maxName && isName(text[i]) {
			i++
		}
		behind := i
		if behind < len(text) && isQuote(text[behind]) {
			behind++
		}
		behind = skipBlanks(text, behind)
		if behind == len(text) || strings.IndexByte(":=>", text[behind]) < 0 {
			continue
		}
		switch name := strings.ToLower(string(text[start:i])); {
		case name == "name" || name == "key":
			return len(text)
		case isValueName(name):
			return skipBlanks(text, behind+1)
		}
	}
	return len(text)
}

// isValueName reports whether a member of this name has the value that another one names.
func isValueName(name string) bool {
	switch strings.ToLower(name) {
	case "value", "default", "parametervalue":
		return true
	}
	return false
}
