package wire

import "strings"

// An IDRule is a provider's rule for the ids of tool calls.
type IDRule struct {
	Max     int // in characters
	Allowed func(c byte) bool
}

// WordRule allows letters, digits, "_" and "-", up to limit of them.
func WordRule(limit int) IDRule {
	return IDRule{Max: limit, Allowed: func(c byte) bool {
		return c == '_' || c == '-' || '0' <= c && c <= '9' ||
			'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}}
}

// Clean returns an id that the provider accepts, unchanged if it accepts this one.
func (r IDRule) Clean(id string) string {
	if id == "" {
		return "call"
	}
	id = strings.Map(func(c rune) rune {
		if c < 0x80 && r.Allowed(byte(c)) {
			return c
		}
		return '_'
	}, id)
	return id[:min(len(id), r.Max)]
}
