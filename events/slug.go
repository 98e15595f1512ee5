package events

import (
	"strings"
	"unicode"
)

// maxSlug bounds a slug in scalars, and the length of a title in bytes. The different units are
// jp's rule.
const maxSlug = 60

// Dirname returns the name that jp gives the directory of a conversation with this title, where ""
// means none: the digits of id and a slug of the title. It is only for creating directories. Use
// [ParseDirname] to find one, because titles and the rules of Unicode change.
func Dirname(id ID, title string) string {
	name := id.Digits()
	if slug := slugOf(title); slug != "" {
		name += "-" + slug
	}
	if len(title) <= maxSlug {
		return name
	}
	// A long title loses its last word, truncated or not, together with the dash before it. If the
	// slug is one word, that is the dash after the id.
	if dash := strings.LastIndexByte(name, '-'); dash > 0 {
		name = name[:dash]
	}
	return name
}

// slugOf maps a title to a slug. Repeated dashes are kept.
func slugOf(title string) string {
	var b strings.Builder
	n := 0
	for _, r := range strings.TrimSpace(title) {
		if n == maxSlug {
			break
		}
		if !isAlphanumeric(r) {
			r = '-'
		}
		b.WriteRune(r)
		n++
	}
	return toLower([]rune(strings.TrimRight(b.String(), "-")))
}

// isAlphanumeric reports whether r is a number or has the derived property Alphabetic, which covers
// more than the letters of Go's tables.
func isAlphanumeric(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) ||
		unicode.Is(unicode.Other_Alphabetic, r)
}

// toLower lower-cases with Unicode's full mapping, which differs from [strings.ToLower] in two
// places that do not depend on a language: a dotted capital I becomes two scalars, and a sigma at
// the end of a word has its own form.
func toLower(rs []rune) string {
	var b strings.Builder
	for i, r := range rs {
		switch {
		case r == 'İ':
			b.WriteString("i\u0307")
		case r == 'Σ' && endsWord(rs, i):
			b.WriteRune('ς')
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// endsWord implements Unicode's condition Final_Sigma: a cased letter precedes position i and none
// follows it, skipping ignorable scalars. As in jp's standard library a letter that is both, such
// as ʰ, counts as ignorable.
func endsWord(rs []rune, i int) bool {
	before := i - 1
	for before >= 0 && isCaseIgnorable(rs[before]) {
		before--
	}
	if before < 0 || !isCased(rs[before]) {
		return false
	}
	after := i + 1
	for after < len(rs) && isCaseIgnorable(rs[after]) {
		after++
	}
	return after == len(rs) || !isCased(rs[after])
}

func isCased(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt,
		unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// isCaseIgnorable reports whether r is Case_Ignorable in Unicode, for the scalars that a slug can
// hold; the rest of that property is punctuation, which became dashes.
func isCaseIgnorable(r rune) bool {
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}
