package render_test

import (
	"testing"

	"github.com/git-jp/git-jp/internal/render"
)

// TestTyped verifies that commands in tags are shown as they were typed, and all other text
// unchanged.
func TestTyped(t *testing.T) {
	for _, c := range []struct{ content, want string }{
		{"<command-message>review</command-message>\n<command-name>/review</command-name>\n" +
			"<command-args>PR 6 <b></command-args>", "/review PR 6 <b>"},
		{"<command-name>/compact</command-name>\n   <command-message>compact</command-message>\n" +
			"   <command-args></command-args>", "/compact"},
		{"<command-name>/x</command-name> and more", "/x\n\nand more"},
		{"<bash-input>ls -l | head</bash-input>", "! ls -l | head"},
		{"see <command-name>/x</command-name>", "see <command-name>/x</command-name>"},
		{"<command-name>/x", "<command-name>/x"},
		{"<command-message>x</command-message>", "<command-message>x</command-message>"},
		{
			"<command-name>/x</command-name><command-message>y</command-message>",
			"<command-name>/x</command-name><command-message>y</command-message>",
		},
		{
			"<command-args>a</command-args><command-name>/x</command-name><command-args>b</command-args>",
			"/x a\n\n<command-args>b</command-args>",
		},
		{" plain\n", " plain\n"},
		{"", ""},
	} {
		if got := render.Typed(c.content); got != c.want {
			t.Errorf("%q: got %q, want %q", c.content, got, c.want)
		}
		if got := render.IsTyped(c.content); got != (c.content != c.want) {
			t.Errorf("%q is typed: got %v", c.content, got)
		}
	}
}

// TestPrinted verifies that only a text that consists of such tags counts as output of a command.
func TestPrinted(t *testing.T) {
	for _, c := range []struct {
		content, want string
		ok            bool
	}{
		{"<bash-stdout>a\nb\n</bash-stdout><bash-stderr>c</bash-stderr>", "a\nb\nc", true},
		{"<local-command-stdout></local-command-stdout>", "", true},
		{"<bash-stdout>a</bash-stdout> and this", "a", false},
		{"a", "", false},
	} {
		if got, ok := render.Printed(c.content); ok != c.ok || ok && got != c.want {
			t.Errorf("%q: got %q, %v", c.content, got, ok)
		}
	}
}
