package secrets

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// Own is the rule of values that are the user's own secrets.
const Own = "own-secret"

// OwnRules returns the rules that find the values. They are of this machine: they stop a commit or
// an import and never choose what is written.
func OwnRules(values []string) Committed {
	var c Committed
	for _, v := range values {
		c.Rules = append(c.Rules, valueRule(Own, v))
	}
	return c
}

// ValueRules returns the one rule that finds a value, in escapes and base64 too.
func ValueRules(name, value string) *Rules { return newRules([]Rule{valueRule(name, value)}) }

func valueRule(name, value string) Rule {
	return Rule{
		Name: name, Keywords: []string{value}, Regex: regexp.QuoteMeta(value), shape: certain,
		within: len(value),
	}
}

// OwnValues returns the secrets in the lines of an .env file or of an environment: values of names
// that say so, and that are neither placeholders nor paths nor only letters, as words are.
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
	return len(v) >= minValue && len(v) <= maxOwn && !isPlaceholder([]byte(v)) && !isPath(v) &&
		strings.ContainsAny(v, "0123456789") && entropy([]byte(v)) >= minEntropy-0.5
}

// maxOwn is how long a value is at most: longer ones are not what people paste.
const maxOwn = 500

// isPath reports whether a value begins as paths do. Every shell exports some under names that look
// secret, PWD above all.
func isPath(v string) bool {
	if len(v) > 2 && v[1] == ':' && isLetter(v[0]) {
		v = v[2:]
	}
	v = strings.TrimLeft(v, "~.")
	return v != "" && (v[0] == '/' || v[0] == '\\')
}

// isSecretName reports whether a name says that its value is secret. What authors, keymaps and
// tokenizers are called does not.
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
