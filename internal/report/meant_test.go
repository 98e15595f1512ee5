package report

import "testing"

// TestMeant verifies that a typo is recognised, and that another word is not.
func TestMeant(t *testing.T) {
	known := []string{"gc.grace", "gc.auto", "anthropic", "openai", "set", "unset"}
	for _, tc := range []struct{ word, want string }{
		{"gc.grase", "gc.grace"},
		{"gc.garce", "gc.grace"},
		{"antropic", "anthropic"},
		{"anthropics", "anthropic"},
		{"sett", "set"},
		{"gc.grace", "gc.grace"},
		{"mistral", ""},
		{"gc.", ""},
		{"", ""},
	} {
		if got := meant(tc.word, known); got != tc.want {
			t.Errorf("meant(%q) = %q, want %q", tc.word, got, tc.want)
		}
	}
}
