package builtin

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/git-jp/git-jp/internal/lists"
)

// maxWords limits how many words of a question are searched for.
const maxWords = 6

// A word is a word to search for.
type word struct {
	said    string // as in the question
	stem    string // in lower case, without its ending
	pattern string // regular expression of stem
}

// words returns the words of a question that are worth a search, in order: names, longer words, and
// quoted text.
func words(question string) []word {
	var found []word
	seen := map[string]bool{}
	for _, said := range split(question) {
		stem := stem(said)
		if len([]rune(stem)) < 3 || stopWord(strings.ToLower(said)) || seen[stem] {
			continue
		}
		seen[stem] = true
		found = append(found, word{said, stem, regexp.QuoteMeta(stem)})
	}
	// If there are too many words, long ones are more specific than short ones.
	for len(found) > maxWords {
		shortest := 0
		for i, w := range found {
			if len(w.stem) < len(found[shortest].stem) {
				shortest = i
			}
		}
		found = slices.Delete(found, shortest, shortest+1)
	}
	return found
}

// split splits a question into quoted text and words. Names of files and identifiers are not split.
func split(question string) []string {
	var all []string
	quotes := regexp.MustCompile("[`\"“]([^`\"”\n]{2,80})[`\"”]")
	rest := quotes.ReplaceAllStringFunc(question, func(q string) string {
		all = append(all, strings.Trim(q, "`\"“”"))
		return " "
	})
	return append(all, strings.FieldsFunc(rest, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_./-", r)
	})...)
}

// stem removes the most common endings from a plain word; names do not change.
func stem(said string) string {
	said = strings.Trim(said, "./-_")
	low := strings.ToLower(said)
	if strings.ContainsAny(said, "_./- ") || said != low && said != title(low) {
		return low
	}
	for _, ending := range []string{"ings", "ing", "ies", "ed", "es", "s"} {
		s, ok := strings.CutSuffix(low, ending)
		if ok && len(s) >= 4 && !strings.HasSuffix(low, "ss") {
			return s
		}
	}
	return low
}

func title(low string) string {
	if low == "" {
		return ""
	}
	r := []rune(low)
	r[0] = unicode.ToUpper(r[0])
	return string(r)
}

// stopWord reports whether a word is common in any question.
func stopWord(low string) bool {
	const list = " " +
		"a about after all also am an and any are as at be because been before being " +
		"both but by can code could did do does done each else explain file files " +
		"find for from function get give had has have her here his how i if in into " +
		"is it its just know let like list look made make many me more most much my " +
		"need new no not now of on one only or other our out over please project repo " +
		"repository see she should show so some than thank that the their them then " +
		"there these they thing things this those through to too under until up us " +
		"use used uses using very want was we were what when where which while who " +
		"why will with work works would you your "
	return strings.Contains(list, " "+low+" ")
}

// pairs returns an expression for lines with two of the words, "" for less than two words.
func pairs(ws []word) string {
	var either []string
	for i, a := range ws {
		for _, b := range ws[i+1:] {
			either = append(either, a.pattern+".*"+b.pattern, b.pattern+".*"+a.pattern)
		}
	}
	return strings.Join(either, "|")
}

// definition returns an expression for lines that define a name with one of the words, in any
// common language, and for headings.
func definition(ws []word) string {
	patterns := lists.Map(ws, func(w word) string { return w.pattern })
	return `(?i)(\b(func|fn|def|class|type|struct|enum|trait|interface|module|const)\b|^#+ ).*(` +
		strings.Join(patterns, "|") + `)`
}

// in reports whether the word is in a text in lower case.
func (w word) in(low string) bool { return strings.Contains(low, w.stem) }
