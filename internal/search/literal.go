package search

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// A filter rules out most texts without the expression, which is slow where case does
// not matter. It never rules out a text with a line that matches.
type filter struct {
	literal string // that every match contains, "" for none
	fold    bool   // in any case
	whole   bool   // a line cannot match unless the whole text does
}

// newFilter derives a filter from the source of an expression.
func newFilter(expr string) filter {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return filter{}
	}
	f := filter{whole: !anchored(re)}
	f.literal, f.fold = required(re)
	if f.fold && !ascii(f.literal) {
		f.literal = ""
	}
	return f
}

// anchored reports whether a match depends on where a line begins or ends.
func anchored(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText:
		return true
	}
	return slices.ContainsFunc(re.Sub, anchored)
}

// required returns the longest literal that each match contains.
func required(re *syntax.Regexp) (literal string, fold bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune), re.Flags&syntax.FoldCase != 0
	case syntax.OpRepeat:
		if re.Min == 0 {
			return "", false
		}
	case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus:
	default:
		return "", false
	}
	for _, sub := range re.Sub {
		if l, f := required(sub); len(l) > len(literal) {
			literal, fold = l, f
		}
	}
	return literal, fold
}

// mayMatch reports whether the text can have a matching line.
func (f filter) mayMatch(text string) bool {
	switch {
	case f.literal == "":
		return true
	case f.fold:
		return containsFold(text, f.literal)
	default:
		return strings.Contains(text, f.literal)
	}
}

// containsFold reports whether text has the ASCII text literal in any case. Two letters
// have a form outside of ASCII, the Kelvin sign and the long s: with one of them it
// says yes to be safe.
func containsFold(text, literal string) bool {
	if strings.ContainsAny(literal, "kKsS") && (strings.Contains(text, "\u212a") ||
		strings.Contains(text, "\u017f")) {
		return true
	}
	begins := strings.ToLower(literal[:1]) + strings.ToUpper(literal[:1])
	for {
		i := strings.IndexAny(text, begins)
		if i < 0 || i+len(literal) > len(text) {
			return false
		}
		if strings.EqualFold(text[i:i+len(literal)], literal) {
			return true
		}
		text = text[i+1:]
	}
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}
