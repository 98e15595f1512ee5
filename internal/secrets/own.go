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
		c.Rules = append(c.Rules, Rule{
			Name: Own, Keywords: []string{v}, Regex: regexp.QuoteMeta(v), shape: certain,
		})
	}
	return c
}

// OwnValues returns the secrets in the lines of an .env file or of an environment: values of names
// that say so, and that are neither words nor placeholders.
func OwnValues(lines []byte) (values []string) {
	for line := range bytes.Lines(lines) {
		name, v, ok := strings.Cut(strings.TrimSpace(string(line)), "=")
		name = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(name, "export ")))
		v = strings.Trim(strings.TrimSpace(v), `"'`)
		comment := strings.HasPrefix(name, "#")
		if !ok || comment || !isSecretName(name) || slices.Contains(values, v) {
			continue
		}
		if _, to := value([]byte(v), 0, len(v)); to > 0 {
			values = append(values, v)
		}
	}
	return values
}

func isSecretName(name string) bool {
	for _, part := range []string{"key", "token", "secret", "passw", "pwd", "credential", "auth"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}
