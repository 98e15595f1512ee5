package search

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// A filter excludes most texts without running the expression, which is slow if case is ignored. It
// never excludes a text with a matching line.
type filter struct {
	literal string // in every match, "" for none
	fold    bool   // ignoring case
	whole   bool   // a line can match only if the complete text does
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

// anchored reports whether a match depends on the beginning or end of a line.
func anchored(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText:
		return true
	}
	return slices.ContainsFunc(re.Sub, anchored)
}

// required returns the longest literal that every match contains.
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

// mayMatch reports whether the text may have a matching line.
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

// containsFold reports whether text contains the ASCII text literal, ignoring case. Two letters
// have equivalents outside ASCII, the Kelvin sign and the long s: for a text with one of them it
// returns true, to be safe.
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
