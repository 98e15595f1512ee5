package sessions_test

import (
	"testing"

	"github.com/git-jp/git-jp/internal/sessions"
)

func TestProvider(t *testing.T) {
	for _, c := range []struct{ called, model, want string }{
		{"anthropic", "claude-opus-4-6", "anthropic"},
		{"Google", "gemini-3", "google"},
		{"github-copilot", "gpt-5", "openai"},
		{"opencode", "claude-sonnet-4-5", "anthropic"},
		{"", "anthropic/claude-3-5-sonnet", "anthropic"},
		{"", "gpt-4o-mini", "openai"},
		{"ollama", "gpt-oss", "ollama"},
		{"somebody", "some-model", "openrouter"},
		{"", "", "openrouter"},
	} {
		if got := sessions.Provider(c.called, c.model); got != c.want {
			t.Errorf("%s of %s: %s, want %s", c.model, c.called, got, c.want)
		}
	}
}
