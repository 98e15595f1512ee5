package owner

import (
	"strings"
	"testing"
)

// TestSafeDirectory checks git's rule: which scopes count, that an empty value resets, and patterns
// for all directories below.
func TestSafeDirectory(t *testing.T) {
	for said, want := range map[string]bool{
		"":                              false,
		"global /a/b":                   true,
		"system /a/b":                   true,
		"command /a/b":                  true,
		"local /a/b":                    false,
		"worktree *":                    false,
		"global *":                      true,
		"system * global ":              false,
		"system * global  command /a/b": true,
		"global /a/*":                   true,
		"global /a/b/*":                 false,
		"global /*":                     true,
		"global /a":                     false,
		"global b":                      false,
		"global /a/bc global /a/b/../b": true,
		"unknown *":                     false,
	} {
		var pairs []string
		if said != "" {
			pairs = strings.Split(said, " ")
		}
		if got := IsSafe("/a/b", pairs); got != want {
			t.Errorf("%q: %v", said, got)
		}
	}
}
