package gitint

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// isTodo reports whether a file is a list of what a rebase or a sequence of picks does, or did.
func isTodo(name string) bool {
	switch name {
	case "rebase-merge/git-rebase-todo", "rebase-merge/git-rebase-todo.backup",
		"rebase-merge/done", "sequencer/todo":
		return true
	}
	return false
}

// A shortID is how a file may name a commit by less than a whole id. Git shortens the names in a
// list while an editor has it, and people write what they like.
type shortID struct {
	text string
	// certain says that it can be nothing else. Other words can be those of a label, or of
	// a command.
	certain bool
}

// fewestDigits is the least by which git takes a word for the beginning of an object id.
const fewestDigits = 4

// shortIDs returns what may name commits by less than a whole id, each once.
func shortIDs(name, text string, digits int) []shortID {
	var named []shortID
	switch {
	case name == stoppedSHA:
		for word := range strings.FieldsSeq(text) {
			named = append(named, shortID{word, true})
		}
	case isTodo(name):
		for line := range strings.Lines(text) {
			named = append(named, namedIn(strings.TrimSpace(line))...)
		}
	}
	var out []shortID
	for _, id := range named {
		isShort := len(id.text) >= fewestDigits && len(id.text) < digits &&
			strings.Trim(strings.ToLower(id.text), hexDigits) == ""
		if isShort && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// namedIn returns what a line of a list names.
func namedIn(line string) []shortID {
	command, rest, _ := strings.Cut(line, " ")
	switch command {
	case "p", "pick", "revert", "r", "reword", "e", "edit", "s", "squash", "f", "fixup":
		return pickedBy(rest)
	case "m", "merge": // of labels, for the most part
		rest, _, _ = strings.Cut(rest, " #")
		if strings.HasPrefix(rest, "-") {
			return append(pickedBy(rest), possible(rest)...)
		}
		return possible(rest)
	case "d", "drop", "t", "reset":
		rest, _, _ = strings.Cut(rest, " ")
		return possible(rest)
	case "x", "exec":
		return possible(rest)
	}
	return nil
}

// pickedBy returns the commit that a command takes, behind its flags. It may be told by the way
// from another one, such as 0123456~2.
func pickedBy(rest string) []shortID {
	for word := range strings.FieldsSeq(rest) {
		switch {
		case word == "-C", word == "-c":
		case strings.Trim(strings.ToLower(word), hexDigits) == "":
			return []shortID{{word, true}}
		default:
			return possible(word)
		}
	}
	return nil
}

// possible returns what in a text could be the beginning of an object id.
func possible(text string) []shortID {
	var out []shortID
	for _, word := range strings.FieldsFunc(text, isNoHexDigit) {
		out = append(out, shortID{text: word})
	}
	return out
}

func isNoHexDigit(c rune) bool { return c >= utf8.RuneSelf || !isHex(byte(c)) }
