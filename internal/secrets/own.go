package secrets

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/internal/lists"
	"github.com/go-json-experiment/json/jsontext"
)

// Own is the name of the rules that find the user's own secrets.
const Own = "own-secret"

// OwnRules returns rules that find the given values. They exist only on this machine: they stop a
// commit or an import and never affect what is written.
func OwnRules(values []string) Committed {
	return Committed{Rules: lists.Map(values, func(v string) Rule { return valueRule(Own, v) })}
}

// ValueRules returns a single rule that finds a value, also with escapes and in base64, however
// short that is.
func ValueRules(name, value string) *Rules {
	r := newRules([]Rule{valueRule(name, value)})
	r.filter = sync.OnceValue(func() *filter {
		f := newFilter(r.list)
		f.base64 = minBase64Of(value)
		return f
	})
	return r
}

// valueRule returns a rule without an expression: its keyword is all of it, byte for byte. In a
// string of JSON and in a form, what belongs to the value may look like another escape, or like no
// escape, so that these spellings are keywords too.
func valueRule(name, value string) Rule {
	quoted, _ := jsontext.AppendQuote(nil, value) // invalid UTF-8 is replaced
	words := []string{value, string(quoted[1 : len(quoted)-1]), url.QueryEscape(value)}
	return Rule{Name: name, Keywords: slices.Compact(words), shape: certain}
}

// OwnValues returns the secrets in the lines of an .env file or of an environment: values of names
// such as PASSWORD that are not placeholders, not paths and not only letters, as words are.
func OwnValues(lines []byte) (values []string) {
	for line := range bytes.Lines(lines) {
		name, v, ok := strings.Cut(strings.TrimSpace(string(line)), "=")
		name = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(name, "export ")))
		v = strings.Trim(strings.TrimSpace(v), `"'`)
		comment := strings.HasPrefix(name, "#")
		if !ok || comment || !isSecretName(name) || slices.Contains(values, v) {
			continue
		}
		if isOwn(v) {
			values = append(values, v)
		}
	}
	return values
}

func isOwn(v string) bool {
	return len(v) >= minValue && len(v) <= maxOwn && !standsIn(v) && !isPath(v) &&
		strings.ContainsAny(v, "0123456789") && entropy([]byte(v)) >= minEntropy-0.5
}

// leastRest is the number of letters and digits that a secret has besides placeholder words.
const leastRest = 6

// standsIn reports whether a value is a placeholder, such as "changeme-1" or "${OTHER}". A word of
// one inside a value does not make it one: the user's own values are known, not guessed.
func standsIn(v string) bool {
	for _, begin := range []string{"<", "${", "$(", "{{"} {
		if strings.HasPrefix(v, begin) {
			return true
		}
	}
	rest := strings.ToLower(v)
	for _, word := range placeholders() {
		rest = strings.ReplaceAll(rest, word, "")
	}
	n := 0
	for _, c := range []byte(rest) {
		if isAlnum(c) {
			n++
		}
	}
	return n < leastRest
}

// maxOwn is the maximum length of a value; people do not paste longer ones.
const maxOwn = 500

// isPath reports whether a value begins as a path does. Every shell exports paths under names that
// look secret, such as PWD.
func isPath(v string) bool {
	if len(v) > 2 && v[1] == ':' && isLetter(v[0]) {
		v = v[2:]
	}
	v = strings.TrimLeft(v, "~.")
	return v != "" && (v[0] == '/' || v[0] == '\\')
}

// isSecretName reports whether a name suggests a secret value. Names that only begin a word with
// "auth", "key" or "token" do not, such as those of authors, keymaps and tokenizers.
func isSecretName(name string) bool {
	for _, part := range []string{"secret", "passw", "pwd", "credential"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return r < 'a' || r > 'z' }) {
		word = strings.TrimSuffix(word, "s")
		for _, end := range []string{"key", "token", "auth"} {
			if strings.HasSuffix(word, end) {
				return true
			}
		}
	}
	return false
}
