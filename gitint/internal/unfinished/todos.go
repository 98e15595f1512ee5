package unfinished

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/git-jp/git-jp/internal/lists"
)

// isTodo reports whether a file is a list of the steps of a rebase or a sequence of picks.
func isTodo(name string) bool {
	switch name {
	case "rebase-merge/git-rebase-todo", "rebase-merge/git-rebase-todo.backup",
		"rebase-merge/done", "sequencer/todo":
		return true
	}
	return false
}

// An Abbreviation is an abbreviated id by which a file may name a commit. Git abbreviates the names
// in a list while an editor has it, and people write any form.
type Abbreviation struct {
	Text string
	// Certain is true if it can be nothing else. Other words can be a label or a command.
	Certain bool
}

// fewestDigits is the shortest abbreviation of an object id in git.
const fewestDigits = 4

// Abbreviations returns the possible abbreviated ids of commits in a file, without duplicates.
func Abbreviations(name string, text []byte, digits int) []Abbreviation {
	var named []Abbreviation
	switch {
	case name == stoppedSHA:
		for word := range strings.FieldsSeq(string(text)) {
			named = append(named, Abbreviation{word, true})
		}
	case isTodo(name):
		for line := range strings.Lines(string(text)) {
			named = append(named, namedIn(strings.TrimSpace(line))...)
		}
	}
	var out []Abbreviation
	for _, id := range named {
		isShort := len(id.Text) >= fewestDigits && len(id.Text) < digits &&
			strings.Trim(strings.ToLower(id.Text), hexDigits) == ""
		if isShort && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// namedIn returns the names in a line of a list.
func namedIn(line string) []Abbreviation {
	command, rest, _ := strings.Cut(line, " ")
	switch command {
	case "p", "pick", "revert", "r", "reword", "e", "edit", "s", "squash", "f", "fixup":
		return pickedBy(rest)
	case "m", "merge": // mostly of labels
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

// pickedBy returns the commit of a command, after its flags. It may be relative to another one,
// such as 0123456~2.
func pickedBy(rest string) []Abbreviation {
	for word := range strings.FieldsSeq(rest) {
		switch {
		case word == "-C", word == "-c":
		case strings.Trim(strings.ToLower(word), hexDigits) == "":
			return []Abbreviation{{word, true}}
		default:
			return possible(word)
		}
	}
	return nil
}

// possible returns the words of a text that could be an abbreviated object id.
func possible(text string) []Abbreviation {
	return lists.Map(strings.FieldsFunc(text, isNoHexDigit), func(word string) Abbreviation {
		return Abbreviation{Text: word}
	})
}

func isNoHexDigit(c rune) bool { return c >= utf8.RuneSelf || !isHex(byte(c)) }
