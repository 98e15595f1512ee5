package settings_test

import (
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events/settings"
)

// TestModelWord checks that a word for a model that jp does not know has no slash, which jp would
// refuse, and means the model.
func TestModelWord(t *testing.T) {
	for _, m := range [][2]string{
		{"vllm", "m"},
		{"ours", "org/model"},
		{"anthropic", "claude-sonnet-4@20250514"},
		{"ours", "100% real/x"},
		{"ours", "a b"},
		{"ours", "größer"},
	} {
		word := settings.ModelWord(m[0], m[1])
		if strings.Contains(word, "/") {
			t.Errorf("%v: %q has a slash", m, word)
		}
		if got := settings.ModelOfWord(word); got != m[0]+"/"+m[1] {
			t.Errorf("%v: %q means %q", m, word, got)
		}
	}
	for _, word := range []string{"quick", "openai/a%2Fb", "50%", "a%20b", ""} {
		if got := settings.ModelOfWord(word); got != word {
			t.Errorf("%q means %q", word, got)
		}
	}
}
